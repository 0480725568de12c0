package plan

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
)

// SuiteClient is the variable of a suite by which tests from templates reach the control plane.
const SuiteClient = "k8sClient"

// A Suite is a test suite that the project's authors wrote.
type Suite struct {
	// File is where it is, or "" when the project has none of its own.
	File string
	// Why is the reason why tests from templates do not compile with it.
	Why string
}

// OwnSuite returns the suite with which tests from templates do not fit, if the authors wrote one. A suite from a
// template would be in file, and declare the given names.
func (p *Plan) OwnSuite(file string, declares ...string) (Suite, error) {
	suite, err := p.Find(file)
	if err != nil {
		return Suite{}, err
	}
	if suite.OnDisk() {
		return p.suiteIn(suite), nil
	}
	if other, name := p.declaring(path.Dir(file), declares...); other != "" {
		return Suite{File: other, Why: "it declares " + name + " already"}, nil
	}
	return Suite{}, nil
}

// suiteIn is a suite that is where one from a template would be.
func (p *Plan) suiteIn(file *File) Suite {
	if gofile.UsesGinkgo(file.Before()) {
		return Suite{File: file.Path(), Why: "its tests use Ginkgo"}
	}
	if other, _ := p.declaring(path.Dir(file.Path()), SuiteClient); other != "" {
		return Suite{}
	}
	return Suite{File: file.Path(), Why: "it declares no " + SuiteClient}
}

// declaring returns the file in a folder that declares one of the names, and that name. Any file of Go may: some
// authors keep a suite in one that go test does not take.
func (p *Plan) declaring(dir string, names ...string) (file, name string) {
	entries, err := p.entries(dir)
	if err != nil {
		return "", "" // what cannot be read is reported when it is written
	}
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		data, err := finite.ReadFile(filepath.Join(p.root, filepath.FromSlash(dir), e.Name()))
		if err != nil {
			continue
		}
		if name := gofile.Declares(data, names...); name != "" {
			return path.Join(dir, e.Name()), name
		}
	}
	return "", ""
}
