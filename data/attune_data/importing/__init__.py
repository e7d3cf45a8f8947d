"""Convert other data sets to this format, without adding anything to their content.

Each importer returns `Imported`: the conversations, marked `imported`, with counts of their annotations and
of what was left out, and why. Two are general and take a map of a table's columns; docs/importing.md.
"""

from attune_data.importing.esconv import import_esconv
from attune_data.importing.feelings import import_feelings
from attune_data.importing.imported import Count, Imported
from attune_data.importing.preferences import import_preferences
from attune_data.importing.prism import import_prism

__all__ = ["Count", "Imported", "import_esconv", "import_feelings", "import_preferences", "import_prism"]
