package dev

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/sourcefolder"
)

// godebugVariable is the one variable that go test compares for each package, whether its tests read it or not, before
// it takes a result from its cache: computeTestInputsID of cmd/go/internal/test. Settings of unknown names have no
// other effect.
const (
	godebugVariable = "GODEBUG"
	inputsSetting   = "slipwayinputs"
)

// planeVariables are the variables by which suites and their control planes get what they get.
var planeVariables = []string{
	assetsVariable, "TEST_ASSET_ETCD", "TEST_ASSET_KUBE_APISERVER", "TEST_ASSET_KUBECTL", programVariable,
	controllersVariable, podsVariable, jobsVariable, definitionsVariable,
}

// withInputs adds to env what go test must compare besides what tests read: programs outside of the module, and what
// these read. It also misses all that a TestMain reads before it runs the tests. Where the module has such a TestMain,
// each of its files counts.
func (o Options) withInputs(env, args []string) []string {
	hash := sha256.New()
	for _, name := range planeVariables {
		fmt.Fprintf(hash, "%s=%q\n", name, lookup(env, name))
	}
	for _, file := range planePrograms(env) {
		fmt.Fprintln(hash, programID(file))
	}
	if strings.EqualFold(lookup(env, existingVariable), "true") {
		fmt.Fprintln(hash, time.Now().UnixNano()) // what a cluster holds cannot be compared
	}
	flags := readArgs(args[:ownArgs(args)]).flags
	dir := from(o.Dir, flags["C"])
	if files, early := o.moduleFiles(moduleAbove(dir), from(dir, flags["coverprofile"])); early {
		fmt.Fprintf(hash, "%q\n", files)
	}
	setting := fmt.Sprintf("%s=%x", inputsSetting, hash.Sum(nil)[:8])
	if theirs := lookup(env, godebugVariable); theirs != "" {
		setting = theirs + "," + setting
	}
	return append(slices.Clone(env), godebugVariable+"="+setting)
}

// from is a path that is relative to a folder.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// programID identifies the program at a path. It leaves out the time of the last change of status, which
// [safefs.Identity] has: setup-envtest makes links to the program for other projects, and each changes that time.
func programID(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "none"
	}
	_, inode := safefs.Details(info)
	return fmt.Sprint(path, " ", info.Size(), " ", info.ModTime().UnixNano(), " ", inode)
}

// planePrograms are the programs that control planes consist of.
func planePrograms(env []string) []string {
	var programs []string
	for _, name := range planeVariables {
		switch path := lookup(env, name); {
		case path == "":
		case name == assetsVariable:
			for _, program := range []string{"etcd", "kube-apiserver", "kubectl"} {
				programs = append(programs, filepath.Join(path, program), filepath.Join(path, program+".exe"))
			}
		case name == programVariable || strings.HasPrefix(name, "TEST_ASSET_"):
			programs = append(programs, path)
		}
	}
	return programs
}

// moduleAbove is the folder of the module that dir is in, or "".
func moduleAbove(dir string) string {
	for !sourcefolder.IsModule(dir) {
		if dir == filepath.Dir(dir) {
			return ""
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// moduleFiles lists the files of a module, except for Go's, which are part of the tests themselves, and the file that
// the tests write. Early reports whether a test file has a TestMain that may read before it runs tests.
func (o Options) moduleFiles(root, written string) (files []string, early bool) {
	if root == "" {
		return nil, false
	}
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			files = append(files, err.Error())
		case d.IsDir() && path != root && passedOver(d.Name()):
			return fs.SkipDir
		case d.IsDir() || path == written:
		case strings.HasSuffix(path, "_test.go"):
			src, err := fileview.ReadPath(o.Files, path)
			early = early || err == nil && startsEarly(src) // go test reports one that cannot be read
		case !strings.HasSuffix(path, ".go"):
			id, err := safefs.Identity(path)
			files = append(files, id+fmt.Sprint(err))
		}
		return nil
	})
	return files, early
}

// passedOver reports whether folders of this name hold nothing that suites read: programs, or what tools keep.
func passedOver(name string) bool {
	return strings.HasPrefix(name, ".") || name == "bin" || name == "node_modules"
}

// startsEarly reports whether a test file has a TestMain that does anything but parse flags before it calls m.Run.
func startsEarly(src []byte) bool {
	if !bytes.Contains(src, []byte("func TestMain(")) {
		return false
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	if err != nil {
		return false // go test reports it
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "TestMain" && f.Body != nil {
			return callsBefore(f, runs(f))
		}
	}
	return false
}

// runs is the position of the first call of m.Run, or that of the function's end.
func runs(f *ast.FuncDecl) token.Pos {
	at := f.End()
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && call.Pos() < at {
			if fun, ok := call.Fun.(*ast.SelectorExpr); ok && fun.Sel.Name == "Run" && isParameter(f, fun.X) {
				at = call.Pos()
			}
		}
		return true
	})
	return at
}

func isParameter(f *ast.FuncDecl, e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && slices.ContainsFunc(f.Type.Params.List, func(field *ast.Field) bool {
		return slices.ContainsFunc(field.Names, func(name *ast.Ident) bool { return name.Name == id.Name })
	})
}

// callsBefore reports whether a function calls another one than flag.Parse that has returned at a position.
func callsBefore(f *ast.FuncDecl, at token.Pos) (calls bool) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && call.End() <= at {
			calls = calls || !isFlagParse(call.Fun)
		}
		return true
	})
	return calls
}

func isFlagParse(e ast.Expr) bool {
	fun, ok := e.(*ast.SelectorExpr)
	if !ok || fun.Sel.Name != "Parse" {
		return false
	}
	pkg, ok := fun.X.(*ast.Ident)
	return ok && pkg.Name == "flag"
}
