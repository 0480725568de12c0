// Package base keeps the record of what was scaffolded: each file as it was before anyone edited it.
//
//	b, err := base.Read(root)
//	content, ok := b.File("cmd/main.go")
//	b.Set("cmd/main.go", changed)
//	data := b.Encode()
//
// The record is a text that is committed with the project and that git merges: [Attributes] has git take both sides of
// a conflict. Each line of a file stands on a line of its own, behind the file's id and a tag:
//
//	# slipway base 1: …
//	== 4k2v9q cmd/main.go
//	4k2v9qd0e1 package main
//	4k2v9qd0e1
//	4k2v9qd0e1" with a space at its end \n"
//	# end of slipway base
//
// Lines that came into the file together have the same tag, a hash of them. So two branches that insert at the same
// place share no line, and taking both sides of a conflict drops no closing brace that both happen to have. The same
// insertion on two branches has the same tag, and is taken once.
package base

import (
	"bytes"
	"iter"
	"maps"
	"slices"
)

// Path is where a project keeps its base, relative to the project.
const Path = ".slipway/base"

// Bounds of what a base may hold, far above what projects have: a file that is damaged, or made for that, takes no more
// time and memory than they allow.
const (
	maxSize   = 64 << 20 // bytes
	mostLines = 1 << 20
	mostFiles = 1 << 16
)

// A Base holds files as they were scaffolded, before anyone edited them.
type Base struct {
	files   map[string]*file
	changed bool
	stale   bool
}

// A file is one of them. Its content is the text of its lines.
type file struct {
	lines   []line
	content []byte
}

// A line is a line of a file, with its end.
type line struct{ tag, text string }

// New returns a base without files.
func New() *Base { return &Base{files: map[string]*file{}} }

// File returns a file as it was scaffolded; path uses slashes.
func (b *Base) File(path string) ([]byte, bool) {
	f, ok := b.files[path]
	if !ok {
		return nil, false
	}
	return f.content, true
}

// Files returns all files in the order of their paths.
func (b *Base) Files() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for _, path := range slices.Sorted(maps.Keys(b.files)) {
			if !yield(path, b.files[path].content) {
				return
			}
		}
	}
}

// Set records a file. Lines that it had already keep their tags; each run of lines that it had not gets one.
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

// Remove forgets a file.
func (b *Base) Remove(path string) {
	if _, ok := b.files[path]; ok {
		delete(b.files, path)
		b.changed = true
	}
}

// Changed reports whether the base holds other files than the one that was read.
func (b *Base) Changed() bool { return b.changed }

// Stale reports whether the base was read in another form than it is written in: with what a merge left in it.
func (b *Base) Stale() bool { return b.stale }

// Empty reports whether the base has no files.
func (b *Base) Empty() bool { return len(b.files) == 0 }

// AttributesPath is where git's attributes of the base are, relative to the project.
const AttributesPath = ".slipway/.gitattributes"

// Attributes have git take both sides of a conflict in the base and leave its line ends alone, and hosts fold it up in
// reviews.
const Attributes = `# The record of what was scaffolded: git takes what either side of a merge has, and hosts hide it in reviews.
base -text merge=union linguist-generated gitlab-generated
`
