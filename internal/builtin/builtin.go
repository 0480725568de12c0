// Package builtin knows the kinds of Kubernetes' own groups, in the release whose libraries slipway is built with.
//
//	for _, k := range builtin.Kinds("apps") { … k.Version, k.Name, k.Resource … }
//
// A test makes the list, kinds.txt, from the types in k8s.io/api and k8s.io/apiextensions-apiserver, and from the
// clients in k8s.io/client-go.
package builtin

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed kinds.txt
var list string

// A Kind is one of a group. Its types are objects: those of lists, of options and the like are none.
type Kind struct {
	Version, Name string
	Resource      string // the name in paths of the API; "" for a kind that is part of another resource only
	ClusterScoped bool   // its objects are in no namespace
}

// table is what the list says.
type table struct {
	release string
	kinds   map[string][]Kind
}

var read = sync.OnceValue(func() table {
	release, lines, _ := strings.Cut(list, "\n")
	t := table{release, map[string][]Kind{}}
	for line := range strings.Lines(lines) {
		words := strings.Fields(line)
		for _, word := range words[2:] {
			name, resource, _ := strings.Cut(word, "=")
			resource, _, whole := strings.Cut(resource, "/")
			t.kinds[words[0]] = append(t.kinds[words[0]], Kind{Version: words[1], Name: name, Resource: resource, ClusterScoped: whole})
		}
	}
	return t
})

// Release is the version of the libraries, as v0.37 for Kubernetes 1.37.
func Release() string { return read().release }

// Kinds are those of a group in all of its versions; core is the group without a name. It is nil for a group that is
// not Kubernetes' own.
func Kinds(group string) []Kind { return read().kinds[group] }

// Resources are the names of a group's resources, or nil for a group that is not Kubernetes' own.
func Resources(group string) []string {
	var names []string
	for _, k := range Kinds(group) {
		if k.Resource != "" && !slices.Contains(names, k.Resource) {
			names = append(names, k.Resource)
		}
	}
	return names
}
