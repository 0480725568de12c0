package scaffold

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// storageVersion marks the version of a kind that the API server stores.
const storageVersion = "+kubebuilder:storageversion"

var (
	nearImports = regexp.MustCompile(`^\)`)
	nearScheme  = regexp.MustCompile(`AddToScheme\(`)
	nearBuilder = regexp.MustCompile(`AddHealthzCheck\(|mgr\.Start\(|SetupWithManager\(`)
)

// mainFragments wires the API into the manager's main.go.
func (a *apiPlan) mainFragments(src []byte) []piece {
	imports := parseImports(src)
	of := a.schemePieces(imports, "utilruntime.Must(%s.AddToScheme(scheme))\n")
	if a.options.Controller {
		of = append(of, inserted(a.controllerFragments(imports, src)...)(src)...)
	}
	return of
}

// suiteFragments makes the types known to the client of the controllers' tests.
func (a *apiPlan) suiteFragments(src []byte) []piece {
	code := "utilruntime.Must(%s.AddToScheme(scheme.Scheme))\n"
	if usesGinkgo(src) {
		code = "Expect(%s.AddToScheme(scheme.Scheme)).To(Succeed())\n"
	}
	return a.schemePieces(parseImports(src), code)
}

// usesGinkgo reports whether a test suite, as kubebuilder makes them, runs specs.
func usesGinkgo(src []byte) bool { return bytes.Contains(src, []byte("RunSpecs(")) }

// schemePieces imports the types and registers them with code, in which %s
// stands for their package.
func (a *apiPlan) schemePieces(imports goImports, code string) []piece {
	if !a.registers() {
		return nil
	}
	pkg := a.project.ImportPath(a.resource)
	name := imports.name(pkg, a.resource.ImportAlias())
	var of []piece
	if strings.HasPrefix(code, "utilruntime.") {
		of = append(of, goImport{name: "utilruntime", path: utilRuntime, module: a.project.Repo})
	}
	return append(of,
		a.importFragment(name, pkg),
		fragment{marker: "scheme", code: fmt.Sprintf(code, name), key: name + ".AddToScheme(", near: nearScheme},
	)
}

// utilRuntime is the package of the function Must, which registers types.
const utilRuntime = "k8s.io/apimachinery/pkg/util/runtime"

// controllerFragments imports the controller's package and starts the controller.
func (a *apiPlan) controllerFragments(imports goImports, src []byte) []fragment {
	r := a.resource
	pkg := path.Join(a.project.Repo, a.project.ControllerDir(r))
	name := imports.name(pkg, a.project.ControllerImportAlias(r))
	key := fmt.Sprintf("%s.%s{", name, a.reconciler())
	code := fmt.Sprintf("if err := (&%s\n\tClient: mgr.GetClient(),\n\tScheme: mgr.GetScheme(),\n}).SetupWithManager(mgr); err != nil {\n%s}\n",
		key, a.failure(src, imports, "set up the "+a.controllerTitle()+" controller"))
	imported := a.importFragment(name, pkg)
	if name == path.Base(pkg) {
		imported.code = strconv.Quote(pkg) + "\n"
	}
	return []fragment{imported, {marker: "builder", code: code, key: key, near: nearBuilder}}
}

func (a *apiPlan) importFragment(name, pkg string) fragment {
	return fragment{marker: "imports", code: name + " " + strconv.Quote(pkg) + "\n", key: strconv.Quote(pkg), module: a.project.Repo, near: nearImports}
}

// failure is the same as the function, and nothing where names are enough.
func (a *apiPlan) failure(src []byte, imports goImports, doing string) string {
	if a.namesOnly() {
		return ""
	}
	return failure(src, imports, doing)
}

// failure is what happens to err at the builder's insertion point: it is returned
// from a function that can, and ends the process in one that cannot, which is how
// other tools scaffold main.
func failure(src []byte, imports goImports, doing string) string {
	switch {
	case !returnsError(src):
		return fmt.Sprintf("\tsetupLog.Error(err, %q)\n\tos.Exit(1)\n", "unable to "+doing)
	case imports["fmt"] == "":
		return "\treturn err\n"
	}
	return fmt.Sprintf("\treturn fmt.Errorf(\"%s: %%w\", err)\n", doing)
}

// returnsError reports whether the function around the builder's insertion point
// returns an error alone.
func returnsError(src []byte) bool {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	i := slices.IndexFunc(file.Comments, func(g *ast.CommentGroup) bool {
		return slices.ContainsFunc(g.List, func(c *ast.Comment) bool { return strings.HasSuffix(c.Text, "+kubebuilder:scaffold:builder") })
	})
	if i < 0 {
		return true
	}
	at := file.Comments[i].Pos()
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || at < f.Pos() || at > f.End() {
			continue
		}
		results := f.Type.Results
		if results == nil || len(results.List) != 1 {
			return false
		}
		name, ok := results.List[0].Type.(*ast.Ident)
		return ok && name.Name == "error"
	}
	return false
}

// goImports maps the import paths of a file to the names they have in it.
type goImports map[string]string

// parseImports reads the imports of a file; one that does not parse has none.
func parseImports(src []byte) goImports {
	imports := goImports{}
	file, err := parser.ParseFile(token.NewFileSet(), "", src, parser.ImportsOnly)
	if err != nil {
		return imports
	}
	for _, spec := range file.Imports {
		pkg, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		imports[pkg] = path.Base(pkg)
		if spec.Name != nil {
			imports[pkg] = spec.Name.Name
		}
	}
	return imports
}

// name is the name of a package in the file: the one it is imported under, or else
// usual, with a number when another package has that name.
func (i goImports) name(pkg, usual string) string {
	if name, ok := i[pkg]; ok && name != "_" && name != "." {
		return name
	}
	used := slices.Collect(maps.Values(i))
	for n, name := 2, usual; ; n++ {
		if !slices.Contains(used, name) {
			return name
		}
		name = fmt.Sprintf("%s%d", usual, n)
	}
}

// hasStorageVersion reports whether a type in the file is marked as stored.
func hasStorageVersion(src []byte) bool {
	return regexp.MustCompile(`(?m)^\s*//\s*` + regexp.QuoteMeta(storageVersion) + `\s*$`).Match(src)
}

// markType returns an edit that puts a marker line directly above a struct type.
func markType(kind, marker string) func(string, []byte) ([]byte, error) {
	decl := regexp.MustCompile(`(?m)^type\s+` + kind + `\s+struct\b`)
	return func(file string, src []byte) ([]byte, error) {
		at := decl.FindIndex(src)
		if at == nil {
			return nil, &report.Error{
				What: fmt.Sprintf("there is no line `type %s struct` to mark", kind), Where: file + ":1",
				Hint: "nothing was changed; put this above the type and run the command again:\n// " + marker,
			}
		}
		return slices.Concat(src[:at[0]], []byte("// "+marker+"\n"), src[at[0]:]), nil
	}
}

// unmarkType returns an edit that removes what markType has put above a struct type.
func unmarkType(kind, marker string) func(string, []byte) ([]byte, error) {
	marked := regexp.MustCompile(`(?m)^// ` + regexp.QuoteMeta(marker) + `\r?\n(type\s+` + kind + `\s+struct\b)`)
	return func(_ string, src []byte) ([]byte, error) { return marked.ReplaceAll(src, []byte("$1")), nil }
}

// taken are the names that scaffolded functions use already.
var taken = []string{"client", "context", "ctrl", "ctx", "err", "metav1", "r", "reconciler", "req", "request", "runtime", "t", "testing"}

// variable is the name of a variable that holds an object: the kind with its first
// word in lower case.
func variable(r project.Resource) string {
	runes := []rune(r.Kind)
	upper := 1
	for upper < len(runes) && unicode.IsUpper(runes[upper]) && (upper+1 == len(runes) || !unicode.IsLower(runes[upper+1])) {
		upper++
	}
	name := strings.ToLower(string(runes[:upper])) + string(runes[upper:])
	if token.IsKeyword(name) || types.Universe.Lookup(name) != nil || slices.Contains(taken, name) || name == r.ImportAlias() {
		return name + "Object"
	}
	return name
}
