package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"

	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
	"sigs.k8s.io/controller-tools/pkg/webhook"

	"github.com/slipway-dev/slipway/test/differential/generate/oracle"
)

// generate runs the generator on packages as often as the request says, and
// collects the results that differ.
func generate(roots []*loader.Package, request oracle.Request) oracle.Answer {
	var answer oracle.Answer
	for range max(1, request.Runs) {
		v := once(roots, request)
		if !slices.ContainsFunc(answer.Variants, func(other oracle.Variant) bool { return reflect.DeepEqual(v, other) }) {
			answer.Variants = append(answer.Variants, v)
		}
	}
	return answer
}

// once is one run. What it reports to the packages is taken from them again, so
// that the next run begins as this one did.
func once(roots []*loader.Package, request oracle.Request) (result oracle.Variant) {
	before := make(map[*packages.Package]int)
	packages.Visit(raw(roots), nil, func(p *packages.Package) { before[p] = len(p.Errors) })
	files := memory{}
	defer func() {
		if p := recover(); p != nil {
			result.Panic = fmt.Sprint(p)
		}
		result.Files = files.texts()
		result.Errors = append(result.Errors, takeErrors(roots, before)...)
		slices.Sort(result.Errors)
	}()
	if err := runGenerator(roots, request, files); err != nil {
		result.Errors = append(result.Errors, err.Error())
	}
	return result
}

func runGenerator(roots []*loader.Package, request oracle.Request, files memory) error {
	generator, err := generatorOf(request)
	if err != nil {
		return err
	}
	registry := &markers.Registry{}
	if err := generator.RegisterMarkers(registry); err != nil {
		return err
	}
	checker := &loader.TypeChecker{}
	if filtered, is := generator.(genall.NeedsTypeChecking); is {
		checker.NodeFilters = []loader.NodeFilter{filtered.CheckFilter()}
	}
	return generator.Generate(&genall.GenerationContext{
		Collector:  &markers.Collector{Registry: registry},
		Roots:      roots,
		Checker:    checker,
		InputRule:  genall.InputFromFileSystem,
		OutputRule: files,
	})
}

// generatorOf is the generator with the options that a request names.
func generatorOf(request oracle.Request) (genall.Generator, error) {
	generators := map[string]genall.Generator{"crd": crd.Generator{}, "webhook": webhook.Generator{}}
	name := cmp.Or(request.Generator, "crd")
	definition, err := markers.MakeDefinition(name, markers.DescribesPackage, generators[name])
	if err != nil {
		return nil, err
	}
	value, err := definition.Parse("+" + name + prefixed(request.Options))
	if err != nil {
		return nil, err
	}
	return value.(genall.Generator), nil
}

func prefixed(options string) string {
	if options == "" {
		return ""
	}
	return ":" + options
}

func raw(roots []*loader.Package) []*packages.Package {
	list := make([]*packages.Package, len(roots))
	for i, root := range roots {
		list[i] = root.Package
	}
	return list
}

// takeErrors returns the errors of packages and of all that they import that were
// not there before, but for those of the type checker, which controller-gen never
// tells.
func takeErrors(roots []*loader.Package, before map[*packages.Package]int) []string {
	var told []string
	packages.Visit(raw(roots), nil, func(p *packages.Package) {
		for _, err := range p.Errors {
			if err.Kind != packages.TypeError {
				told = append(told, err.Error())
			}
		}
		p.Errors = slices.DeleteFunc(p.Errors[:before[p]:before[p]], func(packages.Error) bool { return false })
	})
	return told
}

// memory is an output rule that keeps what is written.
type memory map[string]*file

type file struct{ bytes.Buffer }

func (f *file) Close() error { return nil }

// Open implements [genall.OutputRule].
func (m memory) Open(_ *loader.Package, path string) (io.WriteCloser, error) {
	m[path] = &file{}
	return m[path], nil
}

func (m memory) texts() map[string]string {
	texts := make(map[string]string, len(m))
	for name, f := range m {
		texts[name] = f.String()
	}
	return texts
}
