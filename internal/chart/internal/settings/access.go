package settings

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/chart/internal/model"
	"github.com/slipway-dev/slipway/internal/chart/internal/tree"
)

// takeServiceAccount makes the manager's service account a setting.
func (t *extractor) takeServiceAccount() {
	manager := t.manager()
	if manager == nil {
		return
	}
	pod := manager.Object.At("spec", "template", "spec")
	name := pod.Text("serviceAccountName")
	i := slices.IndexFunc(t.model.Documents, func(d model.Document) bool {
		return d.Of("", "ServiceAccount") && d.Object.At("metadata").Text("name") == name
	})
	if i < 0 {
		return
	}
	account := &t.model.Documents[i]
	t.values.Describe("serviceAccount", "The manager's service account.")
	t.values.Set("serviceAccount.enabled", "Whether the chart creates it.", true)
	t.values.Set("serviceAccount.name", "Its name; by default it follows from the release.", "")
	t.whole(account.Object.At("metadata"), "annotations", "serviceAccount.annotations", "For example for permissions of a cloud provider.", map[string]any{})
	t.more(account.Object.At("metadata").Ensure("labels"), "serviceAccount.labels", "More labels.")
	account.When = tree.All(tree.If(value("serviceAccount.enabled")), account.When)
	action := tree.Action("{{ " + t.include("serviceAccountName") + " | quote }}") // the name may look like a number
	account.Object.At("metadata").Set(tree.Field{Key: "name", Value: action})
	pod.Set(tree.Field{Key: "serviceAccountName", Value: action})
	for _, d := range t.model.Documents {
		for _, subject := range d.Object.List("subjects").Maps() {
			if subject.Text("kind") == "ServiceAccount" && subject.Text("name") == name && subject.Text("namespace") == model.NamespaceMark {
				subject.Set(tree.Field{Key: "name", Value: action})
			}
		}
	}
}

// HasManager reports whether the manager's Deployment is known, so that its settings become values.
func HasManager(m *model.Model) bool { return (&extractor{model: m}).manager() != nil }

// DefaultAccount returns the name, without prefix, of the manager's service account, or "".
func DefaultAccount(m *model.Model) string {
	manager := (&extractor{model: m}).manager()
	if manager == nil {
		return ""
	}
	return model.Unmarked(manager.Object.At("spec", "template", "spec").Text("serviceAccountName"))
}

// takeDefinitions adds the settings that leave out the CRDs, and keep them when the chart is uninstalled.
func (t *extractor) takeDefinitions() {
	group := "apiextensions.k8s.io"
	if !slices.ContainsFunc(t.model.Documents, func(d model.Document) bool { return d.Of(group, "CustomResourceDefinition") }) {
		return
	}
	t.values.Describe("crd", "The CRDs of the operator's kinds.")
	t.values.Set("crd.enabled", "", true)
	t.values.Set("crd.keep", "Whether they and all objects of their kinds stay when the chart is uninstalled.", true)
	for i, d := range t.model.Documents {
		if !d.Of(group, "CustomResourceDefinition") {
			continue
		}
		t.model.Documents[i].When = tree.All(tree.If(value("crd.enabled")), d.When)
		annotations := d.Object.At("metadata").Ensure("annotations")
		annotations.Set(tree.Field{Key: "helm.sh/resource-policy", When: tree.If(value("crd.keep")), Value: tree.Scalar{Value: "keep"}})
	}
}

// takeUserRoles adds the setting that leaves out roles without a binding: they are for users of the kinds.
func (t *extractor) takeUserRoles() {
	bound := map[string]bool{}
	for _, d := range t.model.Documents {
		if ref := d.Object.At("roleRef"); ref != nil {
			bound[ref.Text("kind")+"/"+ref.Text("name")] = true
		}
	}
	for i, d := range t.model.Documents {
		kind := d.Kind
		if d.Group != "rbac.authorization.k8s.io" || kind != "Role" && kind != "ClusterRole" || bound[kind+"/"+d.Object.At("metadata").Text("name")] {
			continue
		}
		ofURLs := func(rule *tree.Map) bool { return rule.Find("nonResourceURLs") != nil } // for collectors of metrics
		if d.Object.Find("aggregationRule") != nil || slices.ContainsFunc(d.Object.List("rules").Maps(), ofURLs) {
			continue
		}
		t.values.Set("rbac.helpers.enabled", "", true)
		t.values.Describe("rbac", "Permissions.")
		t.values.Describe("rbac.helpers", "Roles for users of the operator's kinds.")
		t.model.Documents[i].When = tree.All(tree.If(value("rbac.helpers.enabled")), d.When)
	}
}
