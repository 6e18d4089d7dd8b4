"""A stranger's plugins: a scorer and a measure."""
