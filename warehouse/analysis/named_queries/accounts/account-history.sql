-- title: Observations of an account over time
-- title_zh: 账号的历次观测
-- description: Followers with their field, videos and likes received, as shown at each observation.
-- description_zh: 每次观测时显示的粉丝数及其字段、作品数和获赞数。
-- parameter: sec_uid text: only this account / 仅此账号
select sec_uid, observed_at, surface, nickname, follower_count, follower_count_source, aweme_count,
    total_favorited
from seen.accounts
where $sec_uid is null or sec_uid = $sec_uid
order by sec_uid, observed_at, surface
