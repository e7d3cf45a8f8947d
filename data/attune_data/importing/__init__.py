"""Convert other data sets to this format, without adding anything to their content.

Each importer returns `Imported`: the conversations, marked `imported`, with counts of their annotations and
of what was left out, and why.
"""

from attune_data.importing.esconv import import_esconv
from attune_data.importing.imported import Count, Imported
from attune_data.importing.prism import import_prism

__all__ = ["Count", "Imported", "import_esconv", "import_prism"]
