// Package cat has another name than its folder, which begins with a digit.
package cat

type Strings []string

type Deep struct{ M map[string]string }
