"""The report: analyses of scores and single answers, their figures, and the pages that show them."""

from attune_data.extras import needs_extra


def check_extra() -> None:
    """Raise MissingExtraError unless what reports need, matplotlib and pandas, is installed."""
    with needs_extra("report", "matplotlib", "pandas"):
        import matplotlib  # noqa: F401
        import pandas  # noqa: F401
