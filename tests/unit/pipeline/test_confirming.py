import json

import pytest

from gradegate.pipeline.confirming import NO_MATRIX, WORTH_A_JOB, matrix_for


@pytest.mark.parametrize(
    ("runs", "most", "jobs"),
    [
        (0, 8, 0),
        (WORTH_A_JOB, 8, 0),
        (WORTH_A_JOB + 1, 8, 2),
        (3 * WORTH_A_JOB, 8, 3),
        (1000 * WORTH_A_JOB, 8, 8),
        (1000 * WORTH_A_JOB, 1, 0),
    ],
)
def test_a_matrix_is_asked_for_where_it_is_worth_it(runs: int, most: int, jobs: int) -> None:
    """One job more is none less: the merge runs a few itself."""
    matrix = json.loads(matrix_for(runs, most))
    assert matrix == [f"{number}/{jobs}" for number in range(1, jobs + 1)]
    assert bool(matrix) == (matrix_for(runs, most) != NO_MATRIX)
