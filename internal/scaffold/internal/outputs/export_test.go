package outputs

// Generators are the ones that are known to be some.
func Generators() []string { return generators }
