// Package v1 has the name of many packages.
package v1

type Deep struct{ M map[string]string }

type Strings []string
