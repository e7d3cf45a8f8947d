"""Other data sets, converted to this format: what their files say and nothing more.

Each importer gives `Imported`: the conversations, marked `imported`, and a count of what they are annotated
with, what the source holds besides, and why that was left out.
"""

from attune_data.importing.esconv import import_esconv
from attune_data.importing.imported import Count, Imported
from attune_data.importing.prism import import_prism

__all__ = ["Count", "Imported", "import_esconv", "import_prism"]
