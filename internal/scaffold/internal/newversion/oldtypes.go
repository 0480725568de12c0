package newversion

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newwebhook"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/relocate"
	"github.com/slipway-dev/slipway/project"
)

// findOld finds the declarations of a version that goes: what its kind needs and no other kind of the package, and the
// methods by which it converts itself.
func (v *planner) findOld() error {
	dir := v.project.APIDir(v.old)
	pkg := v.Code().Package(dir)
	units, err := v.readPackage(dir, pkg)
	if err != nil {
		return err
	}
	units = slices.DeleteFunc(units, func(u unit) bool { return u.file == "" })
	needed, others := closure(units, v.old.Kind), make([]bool, len(units))
	v.lastKind = true
	for _, k := range pkg.Kinds {
		if k.Name == v.old.Kind {
			continue
		}
		v.lastKind = false
		for i, is := range closure(units, k.Name) {
			others[i] = others[i] || is
		}
	}
	v.ownNames, v.left, v.divided = map[string]bool{}, map[string][]unit{}, map[string]bool{}
	for i, u := range units {
		own := needed[i] || u.converts || u.webhook && !v.movesWebhooks()
		switch {
		case own && !slices.Contains(v.copied, u.file):
			v.copied = append(v.copied, u.file)
		case u.webhook && !own && !slices.Contains(v.moved, u.file):
			v.moved = append(v.moved, u.file)
		}
		if !own {
			v.dropped = append(v.dropped, u.declares...)
		}
		if own && !others[i] {
			v.ownNames = with(v.ownNames, u.declares)
			v.left[u.file] = append(v.left[u.file], u)
		} else {
			v.divided[u.file] = true
		}
	}
	v.moved = slices.DeleteFunc(v.moved, func(file string) bool { return slices.Contains(v.copied, file) })
	if err := v.ownRegistration(); err != nil {
		return err
	}
	v.set = &relocate.Set{Module: v.project.Repo, Packages: []*relocate.Package{v.typesPackage(units)}, Exists: func(string) bool { return false }}
	_, err = v.set.Check(v.source)
	return err
}

// ownRegistration counts what registers the types of the package as the kind's own if it has no other kind.
func (v *planner) ownRegistration() error {
	file := v.Code().Package(v.project.APIDir(v.old)).Registration.File
	if file == "" || !v.lastKind {
		return nil
	}
	parsed, _, err := gofile.Parse(file, v.after(file), 0)
	if err != nil {
		return err
	}
	v.ownNames = with(v.ownNames, slices.DeleteFunc(relocate.Declarations(parsed), func(name string) bool { return slices.Contains(adders, name) }))
	return nil
}

// removeTypes plans the deletion of the kind's declarations: of files, or of parts of them.
func (v *planner) removeTypes() error {
	for _, name := range v.goingFiles() {
		if err := v.Remove(name); err != nil {
			return err
		}
	}
	dir := v.project.APIDir(v.old)
	for _, name := range slices.Sorted(maps.Keys(v.left)) {
		if v.divided[name] {
			if err := v.Edit(path.Join(dir, name), v.trimmed(name)); err != nil {
				return err
			}
		}
	}
	registration := v.Code().Package(dir).Registration.File
	if v.lastKind || registration == "" {
		return nil
	}
	return v.Edit(registration, func(file string, src []byte) ([]byte, error) {
		return v.unlisting(file, src, func(kind string) bool { return kind == v.old.Kind })
	})
}

// goingFiles returns the files of the version that go as a whole.
func (v *planner) goingFiles() (files []string) {
	dir := v.project.APIDir(v.old)
	for _, name := range slices.Sorted(maps.Keys(v.left)) {
		if !v.divided[name] {
			files = append(files, path.Join(dir, name))
		}
	}
	if !v.lastKind {
		return files
	}
	for _, name := range []string{v.Code().Package(dir).Registration.File, path.Join(dir, "doc.go")} {
		if there, err := v.Exists(name); err == nil && there && name != "" && !slices.Contains(files, name) {
			files = append(files, name)
		}
	}
	return files
}

// refuseChanged refuses to delete code that only the user can have written: types and conversions that are neither as
// they were scaffolded nor those of the version that stays.
func (v *planner) refuseChanged() error {
	if v.deletion.WithChanges {
		return nil
	}
	from, to := v.project.APIDir(v.old), v.project.APIDir(v.new)
	var changed []string
	check := func(name, counterpart string) {
		if there, err := v.Exists(name); err == nil && there && !slices.Contains(changed, name) && !v.hasNothingOwn(name, counterpart) {
			changed = append(changed, name)
		}
	}
	for _, name := range v.goingFiles() {
		check(name, path.Join(to, path.Base(name)))
	}
	for _, name := range slices.Sorted(maps.Keys(v.left)) {
		check(path.Join(from, name), path.Join(to, name))
	}
	conversions := append(conversionFiles(v.project, v.old), newwebhook.OldPathsFile(v.project, v.new, v.old))
	if v.unconverted {
		conversions = append(conversionFiles(v.project, v.old), conversionFiles(v.project, v.new)...)
		conversions = append(conversions, newwebhook.OldPathsFile(v.project, v.old, v.new))
	}
	for _, name := range conversions {
		check(name, "")
	}
	if len(changed) == 0 {
		return nil
	}
	return &report.Error{
		Class: report.Conflict,
		What:  fmt.Sprintf("%s has code that %s does not have, and this would delete it", v.old.Version, v.new.Version), Where: changed[0],
		Hint: "nothing was changed; move to " + v.new.Version + " what you need; --with-changes deletes these files:\n  " + strings.Join(changed, "\n  "),
		Next: v.deletion.again("--to " + v.new.Version + " --with-changes"),
	}
}

func conversionFiles(file *project.Project, r project.Resource) []string {
	name := path.Join(file.APIDir(r), r.SingularName()+"_conversion")
	return []string{name + ".go", name + "_test.go"}
}

// hasNothingOwn reports whether a file is as it was scaffolded, or has no line that its counterpart lacks, if any.
func (v *planner) hasNothingOwn(name, counterpart string) bool {
	lines := v.linesOf(v.after(name))
	if scaffolded, ours := v.Base().File(name); ours && slices.Equal(lines, v.linesOf(scaffolded)) {
		return true
	}
	if counterpart == "" {
		return false
	}
	there := v.linesOf(v.after(counterpart))
	for _, line := range lines {
		at := slices.Index(there, line)
		if at < 0 {
			return false
		}
		there = there[at+1:]
	}
	return true
}

// linesOf returns the lines of a file of either version, as those of the new one.
func (v *planner) linesOf(src []byte) (lines []string) {
	version := regexp.MustCompile(`\b` + regexp.QuoteMeta(v.old.Version) + `\b`)
	for line := range bytes.Lines(version.ReplaceAll(unlike().ReplaceAll(src, nil), []byte(v.new.Version))) {
		if text := strings.TrimSpace(string(line)); text != "" {
			lines = append(lines, text)
		}
	}
	return lines
}
