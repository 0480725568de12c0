// Package dash has a folder that is no identifier.
package dash

type Strings []string

type Deep struct{ M map[string]string }
