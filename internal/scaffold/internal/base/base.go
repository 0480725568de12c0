// Package base keeps the record of what was scaffolded: each file as it was before anyone edited it.
//
//	b, err := base.Read(folder)
//	content, ok := b.File("cmd/main.go")
//	b.Set("cmd/main.go", changed)
//	data := b.Encode()
//
// The record is committed with the project and merged by git: [Attributes] make git take both sides of a conflict. Each
// line of a file is one line of the record, after the file's id and a tag:
//
//	# slipway base 1: …
//	== 4k2v9q cmd/main.go
//	4k2v9qd0e1 package main
//	4k2v9qd0e1
//	4k2v9qd0e1" with a space at its end \n"
//	# end of slipway base
//
// Lines that were inserted together have the same tag, a hash of them. So two branches that insert at the same place
// share no line. Taking both sides of a conflict then drops no closing brace that both have. The same insertion on two
// branches has the same tag, and is taken once.
package base

import (
	"bytes"
	"iter"
	"maps"
	"slices"
)

// Path is the path of the base in a project.
const Path = ".slipway/base"

// Bounds of a base, far above what projects need. They limit the time and memory that a damaged or hostile file costs.
const (
	maxSize   = 64 << 20 // bytes
	mostLines = 1 << 20
	mostFiles = 1 << 16
)

// A Base records files as they were scaffolded. Callers must not change the contents that it returns.
type Base struct {
	files   map[string]*file
	changed bool
	stale   bool
}

// A file is a recorded file. Content is the concatenation of its lines.
type file struct {
	lines   []line
	content []byte
}

// A line includes its line end.
type line struct{ tag, text string }

// New returns a base without files.
func New() *Base { return &Base{files: map[string]*file{}} }

// File returns a file as it was scaffolded. Path uses slashes.
func (b *Base) File(path string) ([]byte, bool) {
	f, ok := b.files[path]
	if !ok {
		return nil, false
	}
	return f.content, true
}

// Files returns all files, sorted by path.
func (b *Base) Files() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for _, path := range slices.Sorted(maps.Keys(b.files)) {
			if !yield(path, b.files[path].content) {
				return
			}
		}
	}
}

// Set records a file. Lines that are recorded already keep their tags; each run of new lines gets a tag.
func (b *Base) Set(path string, content []byte) {
	old, ok := b.files[path]
	if ok && bytes.Equal(old.content, content) {
		return
	}
	if !ok {
		old = &file{}
	}
	b.files[path] = &file{old.tagged(path, content), content}
	b.changed = true
}

// Remove deletes a file from the base. A missing file is no error.
func (b *Base) Remove(path string) {
	if _, ok := b.files[path]; ok {
		delete(b.files, path)
		b.changed = true
	}
}

// Changed reports whether the base changed since it was created or read.
func (b *Base) Changed() bool { return b.changed }

// Stale reports whether Encode would write the base differently than it was read, such as after a merge.
func (b *Base) Stale() bool { return b.stale }

// Empty reports whether the base has no files.
func (b *Base) Empty() bool { return len(b.files) == 0 }

// AttributesPath is the path of the base's git attributes in a project.
const AttributesPath = ".slipway/.gitattributes"

// Attributes make git take both sides of a conflict in the base and keep its line ends. Hosts collapse the file in
// reviews.
const Attributes = `# The record of what was scaffolded: git takes what either side of a merge has, and hosts hide it in reviews.
base -text merge=union linguist-generated gitlab-generated
`
