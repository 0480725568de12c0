package newversion

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/kind"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/relocate"
	"github.com/slipway-dev/slipway/project"
)

// findFiles finds out what the new package needs of the old one: what the kind's types refer to, at any depth, and
// their methods.
func (v *planner) findFiles() error {
	dir := v.project.APIDir(v.old)
	pkg := v.Code().Package(dir)
	if err := v.checkRegistration(pkg, path.Base(projectfile.TypesFile(v.Plan, v.project, v.old))); err != nil {
		return err
	}
	units, err := v.readPackage(dir, pkg)
	if err != nil {
		return err
	}
	needed := closure(units, v.old.Kind)
	for _, k := range pkg.Kinds {
		if k.Name != v.old.Kind {
			if err := v.refuseKind(dir, units, needed, k.Name); err != nil {
				return err
			}
		}
	}
	v.ownNames = map[string]bool{}
	for i, u := range units {
		if needed[i] && !slices.Contains(v.copied, u.file) && u.file != "" {
			v.copied = append(v.copied, u.file)
		}
		if needed[i] {
			v.ownNames = with(v.ownNames, u.declares)
		}
		if u.webhook && v.options.Storage && !slices.Contains(v.moved, u.file) {
			v.moved = append(v.moved, u.file)
		}
	}
	v.moved = slices.DeleteFunc(v.moved, func(file string) bool { return slices.Contains(v.copied, file) })
	v.trim(units, needed)
	for _, k := range pkg.Kinds {
		if k.Name == v.old.Kind {
			continue
		}
		for i, is := range closure(units, k.Name) {
			if is && !units[i].of(v.old.Kind) {
				v.ownNames = except(v.ownNames, units[i].declares)
			}
		}
	}
	v.set = &relocate.Set{Module: v.project.Repo, Packages: []*relocate.Package{v.typesPackage(units)}, Exists: func(string) bool { return false }}
	_, err = v.set.Check(v.source) // what the copies need is among them
	return err
}

// refuseKind refuses to copy another kind: it would get the new version, too.
func (v *planner) refuseKind(dir string, units []unit, needed []bool, other string) error {
	for i, u := range units {
		if !needed[i] || !u.of(other) {
			continue
		}
		user := slices.IndexFunc(units, func(u unit) bool { return slices.Contains(u.uses, other) && !u.of(other) })
		for i, o := range units {
			if needed[i] && slices.Contains(o.uses, other) && !o.of(other) {
				user = i
			}
		}
		where := u.file
		if user >= 0 {
			where = units[user].file
		}
		return &report.Error{
			Class: report.BadProject,
			What:  fmt.Sprintf("the types of %s, or what registers them, need the kind %s, which would get the new version, too", v.old.Kind, other), Where: path.Join(dir, where),
			Hint: fmt.Sprintf("nothing was changed; register each kind by a call of its own, and refer to types that are no kinds, such as %sSpec", other),
		}
	}
	return nil
}

// checkRegistration refuses a file that registers the types of a package and declares them. It leaves a list of the
// kinds to the user, if the new package has one.
func (v *planner) checkRegistration(pkg codebase.Package, first string) error {
	file := pkg.Registration.File
	if file == "" {
		return nil
	}
	if path.Base(file) == first {
		return &report.Error{
			Class: report.BadProject,
			What:  "one file has the types of " + v.old.Kind + " and registers the types of the package", Where: file,
			Hint: "nothing was changed; move what registers the types to a file of its own, such as groupversion_info.go, and run the command again",
		}
	}
	c, err := v.Find(file)
	if err != nil || !bytes.Contains(c.After(), []byte("&"+v.old.Kind+"{}")) {
		return err
	}
	if now := v.project.APIDir(v.new); v.PackageName(now) != "" {
		v.Leave(now + ": the types of " + v.old.Kind + " are registered in a list: add &" + v.old.Kind + "{} and &" + v.old.Kind + "List{} to that of this package")
		return nil
	}
	return nil
}

// typesPackage is the old package in two parts: the new one, and itself.
func (v *planner) typesPackage(units []unit) *relocate.Package {
	dir := v.project.APIDir(v.old)
	var all, shared []string // what both parts declare
	if registration := v.Code().Package(dir).Registration.File; registration != "" {
		all, shared = append(all, path.Base(registration)), append(shared, path.Base(registration))
	}
	for _, u := range units {
		if u.file != "" && !slices.Contains(all, u.file) {
			all = append(all, u.file)
		}
	}
	staying := &relocate.Part{Dir: dir, Import: v.project.ImportPath(v.old), Name: v.packageName(dir, v.old.Version), Alias: v.old.ImportAlias(), Files: all}
	now := v.project.APIDir(v.new)
	return &relocate.Package{Dir: dir, Import: staying.Import, Name: staying.Name, Parts: []*relocate.Part{
		{Dir: now, Import: v.project.ImportPath(v.new), Name: v.packageName(now, v.rename(staying.Name)[0]), Alias: v.new.ImportAlias(), Files: slices.Concat(v.copied, v.moved), Copies: shared, Without: slices.Concat(adders, v.dropped), Called: v.rename},
		staying,
	}}
}

func (v *planner) packageName(dir, usual string) string {
	if name := v.PackageName(dir); name != "" {
		return name
	}
	return usual
}

// rename lists names for the new version where the old one has a name.
func (v *planner) rename(name string) []string {
	return []string{strings.ReplaceAll(name, v.old.Version, v.new.Version), v.new.ImportAlias()}
}

// copyTypes plans the new package: its registration, and copies of what it needs.
func (v *planner) copyTypes() error {
	from, to := v.project.APIDir(v.old), v.project.APIDir(v.new)
	if err := v.copyRegistration(from, to); err != nil {
		return err
	}
	for _, name := range v.copied {
		old, now := path.Join(from, name), path.Join(to, name)
		if there, err := v.Exists(now); err != nil || there && name != path.Base(projectfile.TypesFile(v.Plan, v.project, v.old)) {
			if err != nil {
				return err
			}
			continue // another kind's version has brought it
		}
		if err := v.Copy(old, now); err != nil {
			return err
		}
		for _, edit := range []func(string, []byte) ([]byte, error){v.trimmed(name), v.rewriting(old, now), v.versioned} {
			if err := v.Edit(now, edit); err != nil {
				return err
			}
		}
	}
	return v.markStored(path.Join(to, path.Base(projectfile.TypesFile(v.Plan, v.project, v.old))))
}

// rewriting returns the edit of a Go file that is at one path and has been copied or moved from another.
func (v *planner) rewriting(from, to string) func(string, []byte) ([]byte, error) {
	targets := v.set.Targets(from)
	i := max(0, slices.IndexFunc(targets, func(t relocate.Target) bool { return t.Path == to }))
	return func(_ string, src []byte) ([]byte, error) {
		after, err := v.set.Go(from, targets[i], src)
		if err != nil {
			return nil, &report.Error{Class: report.BadProject, What: "the file cannot be rewritten for the new version", Where: from, Err: err, Hint: "nothing was changed"}
		}
		return gofile.KeepFormat(to, src, after), nil
	}
}

// copyRegistration copies the file that registers the package's types, and the package's documentation with its
// markers, unless the new package has them.
func (v *planner) copyRegistration(from, to string) error {
	if v.PackageName(to) != "" {
		return nil
	}
	files := []string{v.Code().Package(from).Registration.File}
	if doc := path.Join(from, "doc.go"); doc != files[0] {
		if there, err := v.Exists(doc); err != nil || there {
			files = append(files, doc)
		}
	}
	for _, file := range files {
		if file == "" {
			continue
		}
		now := path.Join(to, path.Base(file))
		if err := v.Copy(file, now); err != nil {
			return err
		}
		for _, edit := range []func(string, []byte) ([]byte, error){v.registeringOne, v.versioned} {
			if err := v.Edit(now, edit); err != nil {
				return err
			}
		}
	}
	return nil
}

// versioned has a file that registers types name the new version: as its package, in the package's documentation, and
// where a string is the old version.
func (v *planner) versioned(file string, src []byte) ([]byte, error) {
	parsed, fset, err := gofile.Parse(file, src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	word := regexp.MustCompile(`\b` + regexp.QuoteMeta(v.old.Version) + `\b`)
	var places []ast.Node
	if parsed.Doc != nil {
		places = append(places, parsed.Doc)
	}
	places = append(places, parsed.Name)
	ast.Inspect(parsed, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Value == strconv.Quote(v.old.Version) {
			places = append(places, lit)
		}
		return true
	})
	for _, place := range slices.Backward(places) {
		from, to := fset.Position(place.Pos()).Offset, fset.Position(place.End()).Offset
		src = slices.Concat(src[:from], word.ReplaceAll(src[from:to], []byte(v.new.Version)), src[to:])
	}
	return src, nil
}

// unlike matches the markers of a version that a copy of it does not have.
var unlike = lazy.Regexp(`(?m)^[ \t]*//[ \t]*\+kubebuilder:(storageversion|unservedversion|deprecatedversion).*\r?\n`)

// stored matches the marker of the version in which objects are stored.
var stored = lazy.Regexp(`(?m)^[ \t]*//[ \t]*\+kubebuilder:storageversion[ \t]*\r?\n`)

// markStored marks the version in which objects are stored, and no other.
func (v *planner) markStored(types string) error {
	if err := v.Edit(types, func(_ string, src []byte) ([]byte, error) { return unlike().ReplaceAll(src, nil), nil }); err != nil {
		return err
	}
	if !v.options.Storage {
		return nil // create api marks the version that was the only one
	}
	if err := v.Edit(types, kind.Stored(v.old.Kind)); err != nil {
		return err
	}
	for _, r := range v.project.Resources {
		if r.Group != v.old.Group || r.Kind != v.old.Kind || !v.project.Own(r) || r.Version == v.new.Version {
			continue
		}
		file := projectfile.TypesFile(v.Plan, v.project, r)
		c, err := v.Find(file)
		if err != nil {
			return err
		}
		if !stored().Match(c.After()) {
			continue
		}
		if err := v.unmark(r, file); err != nil {
			return err
		}
	}
	return nil
}

// unmark takes the mark of the stored version from a version. If its file has other kinds, only the mark directly above
// the type is this kind's for certain.
func (v *planner) unmark(r project.Resource, file string) error {
	for _, k := range v.Code().Package(path.Dir(file)).Kinds {
		if k.Name != r.Kind && k.File == file {
			return v.Edit(file, kind.Unstored(r.Kind))
		}
	}
	return v.Edit(file, func(_ string, src []byte) ([]byte, error) { return stored().ReplaceAll(src, nil), nil })
}
