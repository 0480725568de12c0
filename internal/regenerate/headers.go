package regenerate

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/fileview"
)

// boilerplate is the usual file of what Go files begin with.
const boilerplate = "hack/boilerplate.go.txt"

// Headers are the header files of the plan's code, with slashes, and relative to root unless they are absolute: those
// that its generators name, and the usual one where it is there.
func (p Plan) Headers() []string {
	names := p.generation.Headers()
	if p.there(boilerplate) {
		names = with(names, boilerplate)
	}
	return names
}

// with adds a name that is not there.
func with(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

// Header is the first of these files that is there, for code that is generated besides; "" where none is.
func (p Plan) Header() string {
	names := p.Headers()
	if i := slices.IndexFunc(names, p.there); i >= 0 {
		return names[i]
	}
	return ""
}

// there reports whether a file of the project is there.
func (p Plan) there(name string) bool {
	there, err := fileview.Exists(p.view, name)
	return there && err == nil
}
