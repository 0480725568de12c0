package newversion

import (
	"bytes"
	"errors"
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

// A typesFile is a file of the old package.
type typesFile struct {
	name     string // in the package
	declares []string
	methods  []string // receivers of its methods
	uses     []string // names that other files declare
	webhook  bool     // it has methods by which the kind is its own webhook
	converts bool     // it has methods that convert the kind
}

// findFiles finds out which files of the old package the new one needs: those that the kind's types refer to, at any
// depth, and those with their methods.
func (v *planner) findFiles() error {
	dir := v.project.APIDir(v.old)
	files, err := v.readPackage(dir)
	if err != nil {
		return err
	}
	pkg := v.Code().Package(dir)
	first := path.Base(projectfile.TypesFile(v.Plan, v.project, v.old))
	others := map[string]string{} // kinds by file
	for _, k := range pkg.Kinds {
		if k.Name != v.old.Kind {
			others[path.Base(k.File)] = k.Name
		}
	}
	if err := v.checkRegistration(pkg, first); err != nil {
		return err
	}
	v.copied = closure(files, first)
	for _, name := range v.copied {
		if other := others[name]; other != "" {
			return &report.Error{
				What: fmt.Sprintf("the types of %s are in one file with those of %s, or need them", v.old.Kind, other), Where: path.Join(dir, name),
				Hint: "nothing was changed; move what only one of them needs to a file of its own, and run the command again",
			}
		}
	}
	needed := map[string]bool{}
	for other := range others {
		for _, name := range closure(files, other) {
			needed[name] = true
		}
	}
	v.own = slices.DeleteFunc(slices.Clone(v.copied), func(name string) bool { return needed[name] && name != first })
	for _, f := range files {
		if f.webhook && v.options.Storage && !slices.Contains(v.copied, f.name) {
			v.moved = append(v.moved, f.name)
		}
	}
	v.set = &relocate.Set{Module: v.project.Repo, Packages: []*relocate.Package{v.typesPackage(files)}, Exists: func(string) bool { return false }}
	return v.check()
}

// check refuses what cannot move.
func (v *planner) check() error {
	mistakes, err := v.set.Check(v.source)
	for _, mistake := range mistakes {
		v.Refuse(&report.Error{What: mistake.Problem, Where: mistake.Position, Hint: mistake.Hint + "; nothing was changed"})
	}
	return errors.Join(err, v.Refusal())
}

// checkRegistration refuses a file that registers the types of a package and declares them, and a list of all kinds of
// a package, which the new package does not have.
func (v *planner) checkRegistration(pkg codebase.Package, first string) error {
	file := pkg.Registration.File
	if file == "" {
		return nil
	}
	if path.Base(file) == first {
		return &report.Error{
			What: "one file has the types of " + v.old.Kind + " and registers the types of the package", Where: file,
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
	for _, k := range pkg.Kinds {
		if k.Name != v.old.Kind && bytes.Contains(c.After(), []byte("&"+k.Name+"{}")) {
			return &report.Error{
				What: fmt.Sprintf("one list registers %s and %s", v.old.Kind, k.Name), Where: file,
				Hint: "nothing was changed; have the file of each kind register its types, as in func init() { SchemeBuilder.Register(&" + v.old.Kind + "{}) }, and run the command again",
			}
		}
	}
	return nil
}

// typesPackage is the old package in two parts: the new one, and itself.
func (v *planner) typesPackage(files []typesFile) *relocate.Package {
	dir := v.project.APIDir(v.old)
	var all, shared []string // what both parts declare
	if registration := v.Code().Package(dir).Registration.File; registration != "" {
		all, shared = append(all, path.Base(registration)), append(shared, path.Base(registration))
	}
	for _, f := range files {
		if f.name != "" {
			all = append(all, f.name)
		}
	}
	staying := &relocate.Part{Dir: dir, Import: v.project.ImportPath(v.old), Name: v.packageName(dir, v.old.Version), Alias: v.old.ImportAlias(), Files: all}
	now := v.project.APIDir(v.new)
	return &relocate.Package{Dir: dir, Import: staying.Import, Name: staying.Name, Parts: []*relocate.Part{
		{Dir: now, Import: v.project.ImportPath(v.new), Name: v.packageName(now, v.rename(staying.Name)[0]), Files: slices.Concat(v.copied, v.moved), Copies: shared, Without: adders, Called: v.rename},
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

// readPackage reads the files of a folder, without tests, generated ones and what registers the types.
func (v *planner) readPackage(dir string) (files []typesFile, err error) {
	registration := v.Code().Package(dir).Registration.File
	for _, name := range v.Code().GoFilesIn(dir) {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(path.Base(name), "zz_generated") {
			continue
		}
		c, err := v.Find(name)
		if err != nil {
			return nil, err
		}
		parsed, _, err := gofile.Parse(name, c.After(), parser.ParseComments)
		if err != nil {
			return nil, err
		}
		f := describe(path.Base(name), parsed, v.old.Kind)
		if name == registration {
			f = typesFile{uses: f.uses} // others do not need it as a file of the kind
		}
		files = append(files, f)
	}
	return files, nil
}

// These are the methods by which a kind converts itself, or is its own webhook.
var (
	conversions = []string{"Hub", "ConvertTo", "ConvertFrom"}
	webhooks    = []string{"SetupWebhookWithManager", "Default", "ValidateCreate", "ValidateUpdate", "ValidateDelete"}
)

func describe(name string, file *ast.File, kind string) typesFile {
	f := typesFile{name: name, declares: relocate.Declarations(file)}
	for _, decl := range file.Decls {
		d, ok := decl.(*ast.FuncDecl)
		if !ok || d.Recv == nil || len(d.Recv.List) != 1 {
			continue
		}
		receiver := receiverOf(d.Recv.List[0].Type)
		f.methods = append(f.methods, receiver)
		f.converts = f.converts || receiver == kind && slices.Contains(conversions, d.Name.Name)
		f.webhook = f.webhook || receiver == kind && slices.Contains(webhooks, d.Name.Name)
	}
	for _, id := range file.Unresolved {
		f.uses = append(f.uses, id.Name)
	}
	return f
}

func receiverOf(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiverOf(of.X)
	case *ast.Ident:
		return of.Name
	}
	return ""
}

// closure returns the names of a file and of all that it needs, with the file that registers the types, which has the
// name "".
func closure(files []typesFile, first string) []string {
	in := map[string]bool{first: true, "": true}
	for grown := true; grown; {
		grown = false
		var declared, used []string
		for _, f := range files {
			if in[f.name] {
				declared, used = append(declared, f.declares...), append(used, f.uses...)
			}
		}
		for _, f := range files {
			if in[f.name] || f.name == "" || f.webhook || f.converts {
				continue
			}
			declares := slices.ContainsFunc(f.declares, func(name string) bool { return slices.Contains(used, name) })
			if declares || slices.ContainsFunc(f.methods, func(name string) bool { return slices.Contains(declared, name) }) {
				in[f.name], grown = true, true
			}
		}
	}
	var names []string
	for _, f := range files {
		if in[f.name] && f.name != "" {
			names = append(names, f.name)
		}
	}
	return names
}

// copyTypes plans the new package: its registration, and copies of what it needs.
func (v *planner) copyTypes() error {
	from, to := v.project.APIDir(v.old), v.project.APIDir(v.new)
	if err := v.copyRegistration(from, to); err != nil {
		return err
	}
	for _, name := range v.copied {
		old, now := path.Join(from, name), path.Join(to, name)
		if there, err := v.Exists(now); err != nil || there && !slices.Contains(v.own, name) {
			if err != nil {
				return err
			}
			continue // another kind's version has brought it
		}
		if err := v.Copy(old, now); err != nil {
			return err
		}
		if err := v.Edit(now, v.rewriting(old, now)); err != nil {
			return err
		}
		if err := v.Edit(now, v.versioned); err != nil {
			return err
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
			return nil, &report.Error{What: "the file cannot be rewritten for the new version", Where: from, Err: err, Hint: "nothing was changed"}
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
		if err := v.Edit(now, v.versioned); err != nil {
			return err
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
