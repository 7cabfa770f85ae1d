"""Providers that search the scholarly literature: archives of preprints, and catalogues."""
