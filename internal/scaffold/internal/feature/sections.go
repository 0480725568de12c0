package feature

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// What kubebuilder's projects have in comments while a feature is off, besides the feature's line.
const (
	webhookPatch     = "manager_webhook_patch.yaml"
	injectionPatch   = "webhookcainjection_patch.yaml"
	metricsCertPatch = "cert_metrics_manager_patch.yaml"
	monitorTLSPatch  = "monitor_tls_patch.yaml"
)

// sections are those of a feature in the default configuration.
func (p *planner) sections(f Feature) []piece.Section {
	switch f {
	case WebhookServer:
		return []piece.Section{piece.PathIs("patches", webhookPatch)}
	case CertManager:
		sections := []piece.Section{injectingPatches()}
		if p.project.Older() || p.hasVariables() {
			sections = append(sections, injectedNames())
		}
		for _, kind := range p.certified() {
			sections = append(sections, replaces(kind))
		}
		return sections
	case MetricsTLS:
		return []piece.Section{piece.PathIs("patches", metricsCertPatch), namesMetrics()}
	}
	return nil
}

// injectingPatches put cert-manager's authority into webhooks: one file for all of them, or one for each sort.
func injectingPatches() piece.Section {
	return piece.Section{List: "patches", Is: func(item map[string]any) bool {
		file, _ := item["path"].(string)
		return strings.HasSuffix(file, injectionPatch)
	}}
}

// hasVariables reports whether the default configuration still has the variables of older layouts, which kustomize
// replaces by names, though the project's layout is a newer one.
func (p *planner) hasVariables() bool {
	c, err := p.Find(p.defaultConfig())
	return err == nil && regexp.MustCompile(`(?m)^#?\s*vars:`).Match(c.After())
}

// certified are the kinds of objects that name the webhooks' certificate, and the certificate itself.
func (p *planner) certified() []string {
	var kinds []string
	for _, r := range p.project.Resources {
		if r.Webhooks == nil {
			continue
		}
		for kind, on := range map[string]bool{
			"Certificate":                    true,
			"ValidatingWebhookConfiguration": r.Webhooks.Validation,
			"MutatingWebhookConfiguration":   r.Webhooks.Defaulting,
			"CustomResourceDefinition":       r.Webhooks.Conversion,
		} {
			if on && !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
	}
	slices.Sort(kinds)
	return kinds
}

// replaces is the section of replacements from the webhooks' Service or certificate into objects of a kind. The one for
// definitions has its targets below a marker, so it has none at first.
func replaces(kind string) piece.Section {
	return piece.Section{List: "replacements", Is: func(item map[string]any) bool {
		source, _ := item["source"].(map[string]any)
		if name := fmt.Sprint(source["name"]); strings.Contains(name, "metrics") {
			return false
		}
		targets := targetKinds(item)
		return slices.Contains(targets, kind) || len(targets) == 0 && kind == "CustomResourceDefinition"
	}}
}

// targetKinds are the kinds that a replacement changes.
func targetKinds(item map[string]any) []string {
	var kinds []string
	targets, _ := item["targets"].([]any)
	for _, target := range targets {
		t, _ := target.(map[string]any)
		selected, _ := t["select"].(map[string]any)
		if kind, ok := selected["kind"].(string); ok {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// namesMetrics is the section of the replacements from the metrics' Service.
func namesMetrics() piece.Section {
	return piece.Section{List: "replacements", Is: func(item map[string]any) bool {
		source, _ := item["source"].(map[string]any)
		return source["kind"] == "Service" && strings.Contains(fmt.Sprint(source["name"]), "metrics")
	}}
}

// uncomment switches a feature's sections on, in a project of another tool.
func (p *planner) uncomment(f Feature) error {
	of, err := p.ready(f)
	if err != nil {
		return err
	}
	for _, g := range of {
		if err := p.switchSections(g, true); err != nil {
			return err
		}
	}
	return p.uncommentMonitor(f)
}

// ready are the features whose sections have all that they are about once a feature is on. Those of cert-manager are
// about the webhooks, too: kustomize finds nothing to put its authority into while these are in comments.
func (p *planner) ready(f Feature) ([]Feature, error) {
	config, err := p.Find(p.defaultConfig())
	switch {
	case err != nil:
		return nil, err
	case f == CertManager && commentedItem(config.After(), "../"+string(WebhookServer)) > 0 && !listedIn(config.After(), "../"+string(WebhookServer)):
		return nil, nil
	case f == WebhookServer && listedIn(config.After(), "../"+string(CertManager)):
		return p.withCertManager()
	}
	return []Feature{f}, nil
}

// withCertManager are webhooks and, if another tool made it, cert-manager.
func (p *planner) withCertManager() ([]Feature, error) {
	foreign, err := p.foreign(CertManager)
	if err != nil || !foreign {
		return []Feature{WebhookServer}, err
	}
	return []Feature{WebhookServer, CertManager}, nil
}

// switchSections puts a feature's sections into comments, or takes them out.
func (p *planner) switchSections(f Feature, on bool) error {
	if err := p.switchOlder(f, on); err != nil {
		return err
	}
	if f == CertManager && on {
		if err := p.fitInjection(); err != nil {
			return err
		}
	}
	for _, s := range p.sections(f) {
		change := s.Off
		if on {
			change = s.On
		}
		if err := p.Edit(p.defaultConfig(), change); err != nil {
			return err
		}
	}
	return nil
}

// uncommentMonitor has Prometheus check the metrics' certificate, once both are on.
func (p *planner) uncommentMonitor(f Feature) error {
	if f != MetricsTLS && f != Prometheus {
		return nil
	}
	config, err := p.Find(p.defaultConfig())
	if err != nil {
		return err
	}
	list, err := p.Find(p.component(Prometheus))
	if err != nil || !list.There() {
		return err
	}
	if !listedIn(config.After(), "../prometheus") || !listedIn(config.After(), "path: "+metricsCertPatch) {
		return nil
	}
	return p.Edit(p.component(Prometheus), piece.PathIs("patches", monitorTLSPatch).On)
}

// listedIn reports whether a kustomization has an item on a line of its own.
func listedIn(text []byte, item string) bool {
	return slices.ContainsFunc(strings.Split(string(text), "\n"), func(line string) bool { return strings.TrimSpace(line) == "- "+item })
}

// comment puts a feature's line and sections into comments again. Without webhooks, cert-manager's sections have
// nothing to put its authority into.
func (p *planner) comment(f Feature) error {
	if err := p.Edit(p.defaultConfig(), unlist(f)); err != nil {
		return err
	}
	of := []Feature{f}
	if f == WebhookServer {
		var err error
		if of, err = p.withCertManager(); err != nil {
			return err
		}
	}
	for _, g := range of {
		if err := p.switchSections(g, false); err != nil {
			return err
		}
	}
	return p.commentMonitor(f)
}

// unlist puts a feature's line into a comment; or takes it out where it never was in one, since enabling the feature
// has added it to a file without the feature's sections.
func unlist(f Feature) func(file string, src []byte) ([]byte, error) {
	line := piece.Uncommented{Item: f.listed()}
	return func(file string, src []byte) ([]byte, error) {
		out, elsewhere := line.Take(src)
		if elsewhere > 0 || line.Explained(src) || f.hasSections(src) {
			return line.Off(file, src)
		}
		return out, nil
	}
}

// hasSections reports whether a configuration mentions what the feature's sections are about, in comments or not.
func (f Feature) hasSections(src []byte) bool {
	about := map[Feature][]string{WebhookServer: {webhookPatch}, CertManager: {injectionPatch, "kind: Certificate"}}
	return slices.ContainsFunc(about[f], func(text string) bool { return bytes.Contains(src, []byte(text)) })
}

// commentMonitor has Prometheus check no certificate of the metrics any more.
func (p *planner) commentMonitor(f Feature) error {
	if there, err := p.Exists(p.component(Prometheus)); err != nil || !there || f != MetricsTLS && f != Prometheus {
		return err
	}
	return p.Edit(p.component(Prometheus), piece.PathIs("patches", monitorTLSPatch).Off)
}

// ownMetricsTLS reports whether the project has the certificate of its metrics, and what mounts it, as another tool
// makes them: in comments.
func (p *planner) ownMetricsTLS() (bool, error) {
	if p.Recording() {
		return false, nil
	}
	foreign, err := p.foreign(CertManager)
	for _, file := range []string{"config/default/" + metricsCertPatch, "config/certmanager/certificate-metrics.yaml"} {
		there, missing := p.Exists(file)
		foreign, err = foreign && there, errors.Join(err, missing)
	}
	return foreign, err
}

// enableOwnMetricsTLS takes them out of their comments, with cert-manager, which issues the certificate.
func (p *planner) enableOwnMetricsTLS() error {
	if err := p.enableForeign(CertManager); err != nil {
		return err
	}
	return p.uncomment(MetricsTLS)
}

// whereCommented is the place of the patch that mounts the metrics' certificate.
func (p *planner) whereCommented() string {
	c, err := p.Find(p.defaultConfig())
	if err != nil {
		return p.defaultConfig() // the refusal is the same
	}
	for _, line := range piece.PathIs("patches", metricsCertPatch).Waits(c.After()) {
		return fmt.Sprintf("%s:%d", p.defaultConfig(), line)
	}
	return p.defaultConfig()
}

// A Waiting is a section of the configuration that is in comments though the project's webhooks need it.
type Waiting struct {
	File    string // the kustomization
	Line    int
	What    string
	Feature Feature // that enabling takes it out of its comment
}

// WaitingSections are those of the project in the plan's folder.
func WaitingSections(p *plan.Plan, file *project.Project) ([]Waiting, error) {
	planner := &planner{Plan: p, project: file}
	if len(planner.certified()) == 0 {
		return nil, nil
	}
	config, err := p.Find(planner.defaultConfig())
	if err != nil || !config.There() {
		return nil, err
	}
	var all []Waiting
	for _, f := range []Feature{WebhookServer, CertManager} {
		foreign, err := planner.foreign(f)
		if err != nil {
			return nil, err
		}
		if !foreign || f == CertManager && !listedIn(config.After(), "../"+string(f)) {
			continue
		}
		if line := commentedItem(config.After(), "../"+string(f)); line > 0 {
			all = append(all, Waiting{config.Path(), line, "../" + string(f), f})
		}
		for _, s := range planner.sections(f) {
			for _, line := range s.Waits(config.After()) {
				all = append(all, Waiting{config.Path(), line, "a section of its " + s.List, f})
			}
		}
	}
	slices.SortFunc(all, func(a, b Waiting) int { return a.Line - b.Line })
	return all, nil
}

// commentedItem is the number of the line that has an item in a comment, or 0.
func commentedItem(text []byte, item string) int {
	return 1 + slices.IndexFunc(strings.Split(string(text), "\n"), func(line string) bool {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "#")
		return ok && strings.TrimSpace(rest) == "- "+item
	})
}
