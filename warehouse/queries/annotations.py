"""Queries of annotations on compared pairs, with the measurements of the pairs."""

from warehouse.engine.duckdb_engine import Engine
from warehouse.records.values import Row


def read_annotations(engine: Engine, comparison_id: str | None = None) -> list[Row]:
    """Return the annotations of a comparison, or of all comparisons, oldest first.

    Each row also has the columns of the newest row of its comparison.
    """
    return engine.rows(
        """
        with compared as (
            select * exclude (committed_at) from marts.audio_comparisons
            qualify row_number() over (
                partition by comparison_id order by committed_at desc
            ) = 1
        )
        select annotations.*, compared.* exclude (comparison_id)
        from marts.annotations as annotations
        left join compared using (comparison_id)
        where $id is null or annotations.comparison_id = $id
        order by annotations.annotated_at, annotations.annotation_id
        """,
        {"id": comparison_id},
    )
