package plan

import (
	"io/fs"
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
)

// SuiteClient is the variable by which tests from templates reach the control plane: their own, or one that the suite
// declares.
const SuiteClient = "k8sClient"

// suiteStart is the function of a suite from a template that returns the client to a test. Suites of earlier versions
// and those of other tools declare the variable.
const suiteStart = "controlPlane"

// suiteNames are declared by suites with which one from a template does not compile, or makes no sense.
var suiteNames = []string{"TestMain", "testEnv", SuiteClient, suiteStart, "startControlPlane", "stopControlPlane", "started"}

// A Suite is a test suite that the project's authors wrote.
type Suite struct {
	// File is where it is, or "" when the project has none of its own.
	File string
	// Why is the reason why tests from templates do not compile with it.
	Why string
	// Ginkgo is whether it runs specs.
	Ginkgo bool
}

// OwnSuite returns the suite with which tests from templates do not fit, if the authors wrote one. A suite from a
// template would be in file.
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

// suiteIn is a suite that is where one from a template would be.
func (p *Plan) suiteIn(file *File) Suite {
	if gofile.UsesGinkgo(file.Before()) {
		return Suite{File: file.Path(), Why: usesGinkgo, Ginkgo: true}
	}
	if other, _ := p.Declaring(path.Dir(file.Path()), SuiteClient, suiteStart); other != "" {
		return Suite{}
	}
	return Suite{File: file.Path(), Why: "it declares neither " + suiteStart + " nor " + SuiteClient}
}

// TestsStart reports whether tests in a folder get their client from a function that starts the control plane. A folder
// that has it in a variable alone has a TestMain or a spec for that.
func (p *Plan) TestsStart(dir string) bool {
	starting, _ := p.Declaring(dir, suiteStart)
	declaring, _ := p.Declaring(dir, SuiteClient)
	return starting != "" || declaring == ""
}

// runningSpecs returns the test file in a folder that runs the specs of its package.
func (p *Plan) runningSpecs(dir string) (running string) {
	p.eachGo(dir, func(file string, src []byte) bool {
		if strings.HasSuffix(file, "_test.go") && gofile.UsesGinkgo(src) {
			running = file
		}
		return running == ""
	})
	return running
}

// Declaring returns the file in a folder that declares one of the names, and that name. Any file of Go may: some
// authors keep a suite in one that go test does not take.
func (p *Plan) Declaring(dir string, names ...string) (declaring, name string) {
	p.eachGo(dir, func(file string, src []byte) bool {
		if name = gofile.Declares(src, names...); name != "" {
			declaring = file
		}
		return name == ""
	})
	return declaring, name
}

// eachGo reads the Go files of a folder, tests last, until visit returns false. What cannot be read is reported when it
// is written. What a repository says may lead elsewhere, where nothing is.
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
