"""The reader of Word files: a bounded ZIP, XML without a DTD, and a walk over the body."""
