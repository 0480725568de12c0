// Package apply writes apply configurations: for each type of an API a type with the same fields, all of them
// optional, and methods that set them, for typed server-side apply.
//
//	files, err := apply.Files(apply.Request{Package: p, Group: group, Types: types, Dir: dir, Path: path, Structure: yaml})
//
// The bytes are those of applyconfiguration-gen, a program of k8s.io/code-generator, which works on types that go/types
// has checked. Here they come of the resolver of package load. What differs between versions of that program is a
// [Form].
//
// Some of what that program accepts makes code that no compiler takes, and some has an outcome that changes from run to
// run. Such input is refused with [ErrUnsupported], so that the program itself can be asked.
package apply
