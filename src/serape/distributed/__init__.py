"""Tables whose rows or columns are spread over the workers of a Dask cluster, or over sites that keep their rows."""
