// Package lib has the name of another package.
package lib

type Deep struct{ M map[string]string }

type Strings []string

type Plain struct{ A string }
