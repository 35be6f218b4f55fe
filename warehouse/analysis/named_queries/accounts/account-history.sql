-- title: Observations of an account over time
-- description: Followers, videos and likes received, as shown at each observation.
-- parameter: sec_uid text: only this account
select sec_uid, observed_at, surface, nickname, follower_count, aweme_count, total_favorited
from seen.accounts
where $sec_uid is null or sec_uid = $sec_uid
order by sec_uid, observed_at, surface
