package project

import (
	"maps"
	"slices"
)

// coreDomains are the groups of Kubernetes itself, with what follows them in the name of
// the API. The group without a name, of pods and the like, is called core.
var coreDomains = map[string]string{
	"admissionregistration": "k8s.io",
	"apiextensions":         "k8s.io",
	"apps":                  "",
	"authentication":        "k8s.io",
	"authorization":         "k8s.io",
	"autoscaling":           "",
	"batch":                 "",
	"certificates":          "k8s.io",
	"coordination":          "k8s.io",
	"core":                  "",
	"discovery":             "k8s.io",
	"events":                "k8s.io",
	"flowcontrol":           "apiserver.k8s.io",
	"networking":            "k8s.io",
	"node":                  "k8s.io",
	"policy":                "",
	"rbac":                  "authorization.k8s.io",
	"resource":              "k8s.io",
	"scheduling":            "k8s.io",
	"storage":               "k8s.io",
}

// CoreGroups are the groups of Kubernetes itself, in the order of their names.
func CoreGroups() []string { return slices.Sorted(maps.Keys(coreDomains)) }

// CoreDomain returns the domain of a group of Kubernetes itself, which is empty for
// some; it reports whether the group is one.
func CoreDomain(group string) (domain string, ok bool) {
	domain, ok = coreDomains[group]
	return domain, ok
}
