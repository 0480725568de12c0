package scaffold

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// A Feature is a part of what is deployed that one line of config/default/kustomization.yaml
// switches on: a kustomize component in config/<feature>, whose files are written when it is
// first enabled.
type Feature string

// The features, in the order of their lines: a component sees what those above it made.
const (
	Metrics       Feature = "metrics"
	Prometheus    Feature = "prometheus"
	WebhookServer Feature = "webhook"
	CertManager   Feature = "certmanager"
	SelfCert      Feature = "selfcert"
	MetricsTLS    Feature = "metrics-tls"
	NetworkPolicy Feature = "network-policy"
	Namespaced    Feature = "namespaced"
)

// Features lists all features in their order.
func Features() []Feature {
	return []Feature{Metrics, Prometheus, WebhookServer, CertManager, SelfCert, MetricsTLS, NetworkPolicy, Namespaced}
}

// ParseFeature returns the feature of a name; cert-manager may be spelt as its project does.
func ParseFeature(name string) (Feature, bool) {
	if name == "cert-manager" {
		return CertManager, true
	}
	f := Feature(name)
	return f, slices.Contains(Features(), f)
}

// defaultConfig is the file in which each feature is a line.
const defaultConfig = "config/default/kustomization.yaml"

// line is the feature's line.
func (f Feature) line() listItem { return listItem{list: "components", item: "../" + string(f)} }

// component is the feature's kustomization.
func (f Feature) component() string { return "config/" + string(f) + "/kustomization.yaml" }

// A featurePlan is the planning of features.
type featurePlan struct {
	*Plan
	project *project.Project
	header  string
}

// Enable switches features on, and writes the files of those that have none yet. Of the two
// that keep the certificate the other one is switched off.
func Enable(features ...Feature) Edit {
	return func(e *editPlan) error {
		a := apiPlan{Plan: e.Plan}
		if err := a.readHeader(); err != nil {
			return err
		}
		p := &featurePlan{Plan: e.Plan, project: e.project, header: a.header}
		for _, f := range Features() { // in their order
			if !slices.Contains(features, f) {
				continue
			}
			if err := p.enable(f); err != nil {
				return err
			}
		}
		return nil
	}
}

// Disable switches features off. Their files stay.
func Disable(features ...Feature) Edit {
	return func(e *editPlan) error {
		p := &featurePlan{Plan: e.Plan, project: e.project}
		for _, f := range features {
			if err := p.disable(f); err != nil {
				return err
			}
		}
		return nil
	}
}

// enable writes what the feature has not yet, and switches it on.
func (p *featurePlan) enable(f Feature) error {
	foreign, err := p.foreign(f)
	if err != nil {
		return err
	}
	if foreign {
		return p.put(defaultConfig, these(uncommented(f)))
	}
	if other, ok := map[Feature]Feature{CertManager: SelfCert, SelfCert: CertManager}[f]; ok {
		if err := p.disable(other); err != nil {
			return err
		}
	}
	if err := p.planFeature(f); err != nil {
		return err
	}
	return p.put(defaultConfig, these(componentLine{f}))
}

// complete writes what the feature has not yet, and switches it on if it had nothing.
func (p *featurePlan) complete(f Feature) error {
	there, err := p.exists(f.component())
	if err != nil {
		return err
	}
	if !there || p.needs != nil {
		return p.enable(f)
	}
	foreign, err := p.foreign(f)
	switch {
	case err != nil:
		return err
	case foreign && f == WebhookServer:
		return p.planForeignConversion()
	case foreign && f == CertManager:
		return p.planForeignInjection()
	case foreign:
		return nil
	}
	return p.planFeature(f)
}

// planFeature plans the feature's files, with what they say about this project.
func (p *featurePlan) planFeature(f Feature) error {
	steps := map[Feature][]func() error{
		WebhookServer: {p.planWebhookItems},
		CertManager:   {p.planNames, p.planInjection},
		SelfCert:      {p.planRotation, p.planRotationItems},
		MetricsTLS:    {p.planNames},
	}
	if err := p.planFiles(f); err != nil {
		return err
	}
	for _, step := range steps[f] {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (p *featurePlan) disable(f Feature) error {
	foreign, err := p.foreign(f)
	if err != nil {
		return err
	}
	line := f.line()
	if foreign {
		line.list = "resources"
	}
	return p.edit(defaultConfig, func(file string, src []byte) ([]byte, error) {
		out, at := line.take(src)
		if at > 0 {
			return nil, &report.Error{
				What: fmt.Sprintf("the line of %s has something else on it", f), Where: fmt.Sprintf("%s:%d", file, at),
				Hint: "nothing was changed; remove it by hand",
			}
		}
		return out, nil
	})
}

// foreign reports whether the feature's folder is there as another tool made it: as a part of
// what is deployed that is listed among the resources, in a comment while it is off.
func (p *featurePlan) foreign(f Feature) (bool, error) {
	c, err := p.find(f.component())
	if err != nil {
		return false, err
	}
	return c.there() && !regexp.MustCompile(`(?m)^kind:\s*Component\s*$`).Match(c.after), nil
}

// templates is the feature's tree of templates; metrics are on from the beginning.
func (f Feature) templates() string {
	if f == Metrics {
		return "init/config/metrics"
	}
	return "features/" + string(f)
}

// planFiles plans the feature's own files: those of its tree of templates.
func (p *featurePlan) planFiles(f Feature) error {
	root := path.Join("templates", f.templates())
	return fs.WalkDir(templates, root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		file := strings.TrimSuffix(strings.TrimPrefix(name, root+"/"), ".tmpl")
		return p.requireFrom(path.Join(f.templates(), file), path.Join("config", string(f), file), p.data())
	})
}

func (p *featurePlan) data() map[string]any {
	return map[string]any{"Name": p.project.Name, "Boilerplate": p.header}
}

// planNames plans what puts names together that follow from prefix and namespace.
func (p *featurePlan) planNames() error {
	for _, name := range []string{"names.yaml", "services.yaml"} {
		if err := p.requireFrom("features-names/"+name, "config/default/"+name, p.data()); err != nil {
			return err
		}
	}
	return p.put(defaultConfig, these(listItem{list: "resources", item: "services.yaml"}, listEntry{"replacements", "path: names.yaml"}))
}

// converted are the kinds that are converted by webhook: their hubs.
func (p *featurePlan) converted() []project.Resource {
	var hubs []project.Resource
	for _, r := range p.project.Resources {
		if r.Webhooks != nil && r.Webhooks.Conversion {
			hubs = append(hubs, r)
		}
	}
	return hubs
}

// conversionPatch is the file, in a feature's folder, with what a converted kind needs there.
func (p *featurePlan) conversionPatch(r project.Resource) string {
	return "conversion_" + strings.TrimSuffix(path.Base(p.project.CRDFile(r)), ".yaml") + ".yaml"
}

// planWebhookItems lists what differs from project to project: the configurations that are generated,
// which there are not for conversion alone, and the kinds that are converted.
func (p *featurePlan) planWebhookItems() error {
	var of []piece
	if slices.ContainsFunc(p.project.Resources, func(r project.Resource) bool {
		return r.Webhooks != nil && (r.Webhooks.Defaulting || r.Webhooks.Validation)
	}) {
		of = append(of, listItem{list: "resources", item: "manifests.yaml"})
	}
	for _, r := range p.converted() {
		name := p.conversionPatch(r)
		if err := p.requireFrom("webhook/conversion.yaml", "config/webhook/"+name, map[string]any{"Resource": r}); err != nil {
			return err
		}
		of = append(of, listEntry{"patches", "path: " + name})
	}
	return p.put(WebhookServer.component(), these(of...))
}

// planInjection lists the kinds into whose definitions cert-manager puts its authority.
func (p *featurePlan) planInjection() error {
	var of []piece
	for _, r := range p.converted() {
		of = append(of, listEntry{"patches", "{path: injection.yaml, target: {kind: CustomResourceDefinition, name: " + r.CRDName() + "}}"})
	}
	return p.put(CertManager.component(), these(of...))
}

// planRotationItems lists the kinds into whose definitions the manager puts its authority.
func (p *featurePlan) planRotationItems() error {
	var of []piece
	for _, r := range p.converted() {
		name := p.conversionPatch(r)
		if err := p.requireFrom("webhook/conversion_rbac.yaml", "config/selfcert/"+name, map[string]any{"Resource": r}); err != nil {
			return err
		}
		of = append(of, listEntry{"patches", "{path: " + name + ", target: {kind: ClusterRole, name: certificate-role}}"})
	}
	return p.put(SelfCert.component(), these(of...))
}
