package plan

import (
	"io/fs"
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
)

// SuiteClient is the variable by which tests from templates reach the control plane. They or the suite declare it.
const SuiteClient = "k8sClient"

// suiteStart is the function of the scaffolded suite that returns the client to a test. Suites of older versions and of
// other tools declare [SuiteClient] instead.
const suiteStart = "controlPlane"

// suiteNames are declarations with which the scaffolded suite conflicts.
var suiteNames = []string{"TestMain", "testEnv", SuiteClient, suiteStart, "startControlPlane", "stopControlPlane", "started"}

// A Suite is a test suite that the project's authors wrote. The zero value is none.
type Suite struct {
	File string
	// Why is the reason why tests from templates do not compile with it.
	Why string
	// Ginkgo reports whether it runs Ginkgo specs.
	Ginkgo bool
}

// OwnSuite returns the authors' suite with which tests from templates do not compile, or the zero Suite. File is the
// path of the scaffolded suite.
func (p *Plan) OwnSuite(file string) (Suite, error) {
	suite, err := p.Find(file)
	if err != nil {
		return Suite{}, err
	}
	if suite.OnDisk() {
		return p.suiteIn(suite), nil
	}
	if other := p.runningSpecs(path.Dir(file)); other != "" {
		return Suite{File: other, Why: usesGinkgo, Ginkgo: true}, nil
	}
	if other, name := p.Declaring(path.Dir(file), suiteNames...); other != "" {
		return Suite{File: other, Why: "it declares " + name + " already"}, nil
	}
	return Suite{}, nil
}

const usesGinkgo = "its tests use Ginkgo"

// suiteIn returns the suite in the file that the scaffolded one would have.
func (p *Plan) suiteIn(file *File) Suite {
	if gofile.UsesGinkgo(file.Before()) {
		return Suite{File: file.Path(), Why: usesGinkgo, Ginkgo: true}
	}
	if other, _ := p.Declaring(path.Dir(file.Path()), SuiteClient, suiteStart); other != "" {
		return Suite{}
	}
	return Suite{File: file.Path(), Why: "it declares neither " + suiteStart + " nor " + SuiteClient}
}

// TestsStart reports whether tests in a folder get their client from [suiteStart]. A folder that only declares
// [SuiteClient] starts the control plane in a TestMain or a spec.
func (p *Plan) TestsStart(dir string) bool {
	starting, _ := p.Declaring(dir, suiteStart)
	declaring, _ := p.Declaring(dir, SuiteClient)
	return starting != "" || declaring == ""
}

func (p *Plan) runningSpecs(dir string) (running string) {
	p.eachGo(dir, func(file string, src []byte) bool {
		if strings.HasSuffix(file, "_test.go") && gofile.UsesGinkgo(src) {
			running = file
		}
		return running == ""
	})
	return running
}

// Declaring returns the file in a folder that declares one of the names, and that name. It reads files without the
// suffix _test.go too, since some authors keep a suite there.
func (p *Plan) Declaring(dir string, names ...string) (declaring, name string) {
	p.eachGo(dir, func(file string, src []byte) bool {
		if name = gofile.Declares(src, names...); name != "" {
			declaring = file
		}
		return name == ""
	})
	return declaring, name
}

// eachGo visits the Go files of a folder, tests last, until visit returns false. It skips unreadable files, which fail
// when they are written, and folders outside the project, which a hostile PROJECT may name.
func (p *Plan) eachGo(dir string, visit func(file string, src []byte) bool) {
	if dir = path.Clean(dir); !fs.ValidPath(dir) {
		return
	}
	entries, _ := p.folder.ReadDir(dir)
	for _, tests := range []bool{false, true} {
		for _, e := range entries {
			if e.IsDir() || !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") != tests {
				continue
			}
			data, err := p.folder.ReadFile(path.Join(dir, e.Name()))
			if err == nil && !visit(path.Join(dir, e.Name()), data) {
				return
			}
		}
	}
}
