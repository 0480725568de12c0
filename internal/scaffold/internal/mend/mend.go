// Package mend makes code and lists of another tool fit a project that slipway made: kubebuilder's commands insert
// text that only its own scaffolds have the names for.
//
//	findings := mend.Find(p, file)
//	err := mend.Plan(p, file)
package mend

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/wiring"
	"github.com/slipway-dev/slipway/internal/shellword"
	"github.com/slipway-dev/slipway/project"
)

// The lists of samples: slipway's, whose name no `kubectl apply -f` takes for an object, and kubebuilder's.
const (
	ownSamples   = "config/samples/Kustomization"
	otherSamples = "config/samples/kustomization.yaml"
)

// Find reports what does not fit, with its place. It says nothing about projects of other tools, which have the names.
func Find(p *plan.Plan, file *project.Project) ([]report.Finding, error) {
	var found []report.Finding
	add := func(name string, line int, message string) {
		found = append(found, report.Finding{Position: report.Position{File: name, Line: line, Column: 1}, Message: message, Suggestion: suggestion(file)})
	}
	if ours, err := p.Exists(manager.FlagsFile); err != nil || !ours {
		return nil, err
	}
	err := each(p, file, func(c *plan.File, of func([]byte) []wiring.Stranger) error {
		for _, one := range of(c.After()) {
			add(c.Path(), one.Line, one.Missing+" is not declared here: kubebuilder wrote this code for its own scaffold")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	both, err := twoLists(p)
	if err == nil && both {
		add(otherSamples, 1, "kustomize refuses a folder with this file and "+path.Base(ownSamples))
	}
	return found, err
}

// suggestion is the command that mends: that for the last kind, which need not be the one.
func suggestion(file *project.Project) string {
	for _, r := range slices.Backward(file.Resources) {
		if r.API != nil {
			controller := "--controller"
			if !r.Controller {
				controller += "=false"
			}
			return fmt.Sprintf("slipway create api --group %s --version %s --kind %s --resource %s",
				shellword.Quote(r.Group), shellword.Quote(r.Version), shellword.Quote(r.Kind), controller)
		}
	}
	return "slipway create api"
}

// Plan plans that what does not fit does.
func Plan(p *plan.Plan, file *project.Project) error {
	if ours, err := p.Exists(manager.FlagsFile); err != nil || !ours || p.Recording() {
		return err
	}
	err := each(p, file, func(c *plan.File, of func([]byte) []wiring.Stranger) error {
		if len(of(c.After())) == 0 {
			return nil
		}
		return p.Edit(c.Path(), func(name string, src []byte) ([]byte, error) { return fitted(p, name, src, of) })
	})
	if err != nil {
		return err
	}
	return joinLists(p)
}

// each calls f with the files that other tools insert into, and with what finds it there.
func each(p *plan.Plan, file *project.Project, f func(*plan.File, func([]byte) []wiring.Stranger) error) error {
	found, err := manager.Find(p, file)
	main := found.File
	if err != nil || main == "" {
		return err // then nothing was inserted
	}
	names := []string{main}
	for _, r := range file.Resources {
		for _, suite := range []string{file.SuiteTestFile(r), file.WebhookSuiteTestFile(r)} {
			if !slices.Contains(names, suite) {
				names = append(names, suite)
			}
		}
	}
	for i, name := range names {
		c, err := p.Find(name)
		if err != nil {
			return err
		}
		of := wiring.ExpectsSuccess
		if i == 0 {
			of = wiring.ExitsWithLog
		}
		if !c.There() || i == 0 && declaredBeside(p, main) {
			continue
		}
		if err := f(c, of); err != nil {
			return err
		}
	}
	return nil
}

// declaredBeside reports whether another file of the main package has the logger.
func declaredBeside(p *plan.Plan, main string) bool {
	return slices.ContainsFunc(p.Code().GoFilesIn(path.Dir(main)), func(name string) bool {
		c, err := p.Find(name)
		return err == nil && name != main && bytes.Contains(c.After(), []byte("setupLog"))
	})
}

// fitted is a file in which what was inserted has a form of the file's own.
func fitted(p *plan.Plan, name string, src []byte, of func([]byte) []wiring.Stranger) ([]byte, error) {
	before := src
	for found := of(src); len(found) > 0; found = of(src) {
		one := found[0]
		if one.Missing == "Expect" {
			var err error
			if src, err = registered(name, src, one); err != nil {
				return nil, err
			}
			continue
		}
		code := manager.Failure(p, src, gofile.ImportsOf(src), "set up the "+doing(one.What))
		if strings.Contains(code, one.Missing) {
			return nil, &report.Error{What: one.Missing + " is not declared", Where: fmt.Sprintf("%s:%d", name, one.Line),
				Hint: "nothing was changed; declare it and run the command again:\nvar setupLog = ctrl.Log.WithName(\"setup\")"}
		}
		src = one.Replace(src, "\n"+code)
	}
	return gofile.KeepFormat(name, before, src), nil
}

// registered is a suite that registers types without Gomega, once.
func registered(name string, src []byte, one wiring.Stranger) ([]byte, error) {
	if without := one.Without(src); wiring.Registers(without, one.Package) {
		return without, nil
	}
	src = one.Replace(src, "utilruntime.Must("+one.Package+".AddToScheme("+one.Scheme+"))")
	return piece.Import{Name: "utilruntime", Path: "k8s.io/apimachinery/pkg/util/runtime"}.Put(name, src)
}

// doing is what a reconciler or a function sets up, in words.
func doing(name string) string {
	if kind, ok := strings.CutSuffix(name, "Reconciler"); ok {
		return kind + " controller"
	}
	return strings.TrimSuffix(strings.TrimPrefix(name, "Setup"), "WebhookWithManager") + " webhooks"
}

func twoLists(p *plan.Plan) (bool, error) {
	own, err := p.Exists(ownSamples)
	if err != nil || !own {
		return false, err
	}
	return p.Exists(otherSamples)
}

// joinLists puts the samples of slipway's list into kubebuilder's, and removes the former unless it says more.
func joinLists(p *plan.Plan) error {
	if both, err := twoLists(p); err != nil || !both {
		return err
	}
	own, err := p.Find(ownSamples)
	if err != nil {
		return err
	}
	var items []plan.Piece
	for line := range strings.Lines(string(own.After())) {
		line = strings.TrimSpace(line)
		item, listed := strings.CutPrefix(line, "- ")
		switch {
		case listed:
			items = append(items, piece.Listed{Marker: "manifestskustomizesamples", Name: item})
		case line != "" && line[0] != '#' && line != "resources:":
			p.Leave(ownSamples + ": kustomize refuses a folder with this file and " + path.Base(otherSamples) + "; move its lines there and delete it")
			return nil
		}
	}
	if err := p.Put(otherSamples, plan.These(items...)); err != nil || p.Refused() {
		return err
	}
	return p.Remove(ownSamples)
}
