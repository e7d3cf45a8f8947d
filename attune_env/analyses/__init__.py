"""What a model can and cannot read: each analysis is a function of a `Study` that gives an `Analysis`."""
