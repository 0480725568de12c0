package listing

import (
	"path"
	"slices"

	"sigs.k8s.io/kustomize/api/konfig"
)

// BuildsOfMore reports whether a file, a kustomization with this text, builds of other things than the files for which
// but returns true. A component patches what others build, so it never does.
func BuildsOfMore(file string, src []byte, but func(file string) bool) bool {
	l := parse(file, src)
	more := l.elsewhere || l.generates || slices.ContainsFunc(l.listed, func(name string) bool { return !but(name) })
	return more && !l.component
}

// IsOne reports whether a file is a kustomization, by its name.
func IsOne(file string) bool {
	return slices.Contains(konfig.RecognizedKustomizationFileNames(), path.Base(file))
}
