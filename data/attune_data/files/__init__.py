"""Reading and writing files of conversations."""
