package settings_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/chart/internal/model"
	"github.com/slipway-dev/slipway/internal/chart/internal/settings"
	"github.com/slipway-dev/slipway/internal/chart/internal/template"
	"github.com/slipway-dev/slipway/internal/chart/internal/tree"
)

const manager = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: controller-manager}
spec:
  replicas: 2
  selector: {matchLabels: {control-plane: controller-manager}}
  template:
    metadata: {labels: {control-plane: controller-manager}}
    spec:
      serviceAccountName: controller-manager
      containers:
      - name: proxy
        image: proxy:1
      - name: manager
        image: example.com/op:v1
        args: [--leader-elect, "--metrics-bind-address=:8443"]
        ports: [{containerPort: 8443}]
        resources: {limits: {cpu: 1}}
`

// modelOf is the model of objects, as texts.
func modelOf(t *testing.T, objects ...string) *model.Model {
	t.Helper()
	m := &model.Model{}
	for _, text := range objects {
		data, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var value map[string]any
		if err := json.Unmarshal(data, &value); err != nil { // with the numbers that objects have
			t.Fatal(err)
		}
		object := tree.Literal(value).(*tree.Map)
		group := schema.FromAPIVersionAndKind(object.Text("apiVersion"), object.Text("kind")).Group
		m.Documents = append(m.Documents, model.Document{Group: group, Kind: object.Text("kind"), Object: object})
	}
	return m
}

// text is a document as the chart has it.
func text(d model.Document) string { return template.Document(d.Object, d.When, nil) }

func holds(t *testing.T, what, got string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		text, not := strings.CutPrefix(text, "!")
		if strings.Contains(got, text) == not {
			t.Errorf("%s: it holds %q: %v", what, text, not)
			t.Log(got)
		}
	}
}

// taken is what becomes of the first object, and values.yaml.
func taken(t *testing.T, m *model.Model) (document, values string) {
	t.Helper()
	values, err := settings.Take(m, "op").YAML()
	if err != nil {
		t.Fatal(err)
	}
	return text(m.Documents[0]), values
}

// TestManager: what the manager's Deployment has is the default of a setting, which stands in its place.
func TestManager(t *testing.T) {
	document, values := taken(t, modelOf(t, manager))
	holds(t, "values.yaml", values,
		"  replicas: 2\n", "    repository: example.com/op\n", "    tag: v1\n", "    digest: \"\"\n", "    pullPolicy: \"\"\n",
		"  args:\n    - --leader-elect\n    - --metrics-bind-address=:8443\n", "  env: []\n", "    limits:\n      cpu: 1\n", "  podSecurityContext: {}\n", "\nfullnameOverride: \"\"\n")
	holds(t, "the Deployment", document,
		"replicas: {{ .Values.manager.replicas }}\n", `image: {{ include "op.image" . | quote }}`, "image: proxy:1\n",
		"toYaml .Values.manager.resources", "{{- if .Values.manager.args }}", `app.kubernetes.io/instance: {{ .Release.Name | quote }}`, `include "op.labels" .`, "!cpu: 1")
}

// TestImages: an image has a tag or a digest; one that a feature decides is left alone.
func TestImages(t *testing.T) {
	for image, want := range map[string]string{
		"op":                  "    repository: op\n    # Defaults to the chart's appVersion.\n    tag: latest\n",
		"reg:5000/op:v1":      "    repository: reg:5000/op\n    # Defaults to the chart's appVersion.\n    tag: v1\n",
		"op@sha256:" + digest: "    tag: \"\"\n    # Such as sha256:…; replaces the tag.\n    digest: sha256:" + digest + "\n",
	} {
		_, values := taken(t, modelOf(t, strings.Replace(manager, "example.com/op:v1", image, 1)))
		holds(t, image, values, want)
	}
	m := modelOf(t, manager)
	managerOf(m).Find("image").When = tree.If(".Values.x.enabled")
	document, values := taken(t, m)
	holds(t, "values.yaml", values, "!repository:")
	holds(t, "the Deployment", document, "image: example.com/op:v1\n")
	_, values = taken(t, modelOf(t, strings.Replace(manager, "image: example.com/op:v1", "image: example.com/op:v1\n        imagePullPolicy: Never", 1)))
	holds(t, "values.yaml", values, "    pullPolicy: Never\n")
}

// TestImageVariables: a variable that holds the manager's image follows it, and those around it stay settings.
func TestImageVariables(t *testing.T) {
	env := "env: [{name: LEVEL, value: info}, {name: IMAGE, value: example.com/op:v1}, {name: PROXY, value: proxy:1}]\n        resources: "
	document, values := taken(t, modelOf(t, strings.Replace(manager, "resources: ", env, 1)))
	holds(t, "values.yaml", values, "  env:\n    - name: LEVEL\n      value: info\n    - name: PROXY\n      value: proxy:1\n", "!IMAGE")
	holds(t, "the Deployment", document, "- name: IMAGE\n", `value: {{ include "op.image" . | quote }}`, "toYaml .Values.manager.env", "!LEVEL")
}

const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// managerOf is the manager's container.
func managerOf(m *model.Model) *tree.Map {
	containers := m.Documents[0].Object.At("spec", "template", "spec").List("containers").Maps()
	return containers[len(containers)-1]
}

// TestImageElsewhere: containers of the manager's image follow it wherever they are, with when to pull it if they said
// the same; others keep theirs.
func TestImageElsewhere(t *testing.T) {
	first := strings.Replace(manager, "      containers:\n", "      initContainers:\n      - {name: first, image: example.com/op:v1, env: [{name: SELF, value: example.com/op:v1}]}\n      containers:\n", 1)
	const daemon = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: d}\nspec: {template: {spec: {containers: [{name: a, image: example.com/op:v1, imagePullPolicy: Never}, {name: b, image: other:v1}]}}}"
	const job = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: j}\nspec: {jobTemplate: {spec: {template: {spec: {containers: [{name: a, image: example.com/op:v1}]}}}}}"
	m := modelOf(t, first, daemon, job)
	document, _ := taken(t, m)
	const image, pull = `image: {{ include "op.image" . | quote }}`, "imagePullPolicy: {{ .Values.manager.image.pullPolicy }}"
	if n := strings.Count(document, image); n != 2 || strings.Count(document, pull) != 2 {
		t.Errorf("the Deployment has %d images that follow", n)
	}
	holds(t, "Deployment", document, `value: {{ include "op.image" . | quote }}`, "!op:v1", "proxy:1")
	holds(t, "DaemonSet", text(m.Documents[1]), image, "imagePullPolicy: Never", "image: other:v1", "!"+pull)
	holds(t, "CronJob", text(m.Documents[2]), image, pull)
}

// TestFollowing: where a value follows from a feature, the setting is empty, and goes before the feature when it is
// set.
func TestFollowing(t *testing.T) {
	m := modelOf(t, manager)
	spec := m.Documents[0].Object.At("spec")
	spec.Find("replicas").When = tree.If(".Values.ha.enabled")
	managerOf(m).Find("resources").When = tree.If(".Values.ha.enabled")
	args := managerOf(m).List("args")
	args.Items[1].When = tree.If(".Values.metrics.enabled")
	document, values := taken(t, m)
	holds(t, "values.yaml", values, "  replicas: \"\"\n", "  resources: {}\n", "  args:\n    - --leader-elect\n  #")
	holds(t, "the Deployment", document, `{{- if not (has .Values.manager.replicas (list nil "")) }}`, "replicas: {{ .Values.manager.replicas }}", "replicas: 2\n",
		"(not .Values.manager.resources) .Values.ha.enabled", "{{- if .Values.metrics.enabled }}\n", "--metrics-bind-address=:8443", "!--leader-elect")
}

// TestMarked: what names the release is no setting, since values are no templates.
func TestMarked(t *testing.T) {
	document, values := taken(t, modelOf(t, strings.Replace(manager, "--leader-elect", "--leader-elect, --namespace="+model.NamespaceMark+", --last", 1)))
	holds(t, "values.yaml", values, "  args:\n    - --leader-elect\n  #")
	holds(t, "the Deployment", document, model.NamespaceMark, "--last")
}

// TestNoManager: without a Deployment that is the manager there is nothing to set about one.
func TestNoManager(t *testing.T) {
	other := strings.ReplaceAll(strings.ReplaceAll(manager, "control-plane: controller-manager", "app: a"), "name: controller-manager}", "name: a}")
	for name, m := range map[string]*model.Model{"no Deployment": modelOf(t, "apiVersion: v1\nkind: ConfigMap\n"), "two of them": modelOf(t, other, other)} {
		document, values := taken(t, m)
		holds(t, name, values, "!manager:", "nameOverride: \"\"\n")
		holds(t, name, document, `include "op.labels" .`)
		if account := settings.DefaultAccount(m); account != "" {
			t.Errorf("%s: the account is %q", name, account)
		}
	}
	if _, values := taken(t, modelOf(t, other)); !strings.Contains(values, "manager:") {
		t.Error("the only Deployment is not the manager")
	}
}

// TestReplicasOfOthers: where there is no number of replicas, something else decides.
func TestReplicasOfOthers(t *testing.T) {
	document, values := taken(t, modelOf(t, strings.Replace(manager, "  replicas: 2\n", "", 1)))
	holds(t, "values.yaml", values, "!replicas")
	holds(t, "the Deployment", document, "!replicas")
}

// TestServiceAccount: the chart brings it unless its user has one, and what is bound to it is bound to that.
func TestServiceAccount(t *testing.T) {
	const name = "{{ include \"op.serviceAccountName\" . | quote }}"
	account := "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: controller-manager}\n"
	binding := "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nroleRef: {kind: Role, name: a}\nsubjects:\n" +
		"- {kind: ServiceAccount, name: controller-manager, namespace: " + model.NamespaceMark + "}\n- {kind: ServiceAccount, name: controller-manager, namespace: other}\n"
	m := modelOf(t, manager, account, binding)
	if got := settings.DefaultAccount(m); got != "controller-manager" {
		t.Errorf("the account is %q", got)
	}
	document, values := taken(t, m)
	holds(t, "values.yaml", values, "serviceAccount:\n  # Whether the chart creates it.\n  enabled: true\n")
	holds(t, "the Deployment", document, "serviceAccountName: "+name)
	holds(t, "the account", text(m.Documents[1]), "{{- if .Values.serviceAccount.enabled }}", "name: "+name)
	holds(t, "the binding", text(m.Documents[2]), "name: "+name, "name: controller-manager\n")
}

// TestConditions: definitions and the roles of people can be left out.
func TestConditions(t *testing.T) {
	role := func(name string) string {
		return "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: " + name + "}\n"
	}
	m := modelOf(t,
		"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\n", role("editor"), role("manager"),
		"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: b}\nroleRef: {kind: ClusterRole, name: manager}\n", role("all")+"aggregationRule: {}\n",
	)
	document, values := taken(t, m)
	holds(t, "values.yaml", values, "crd:\n  enabled: true\n", "  keep: true\n", "rbac:\n  # Roles for users of the operator's kinds.\n  helpers:\n    enabled: true\n")
	holds(t, "the definition", document, "{{- if .Values.crd.enabled }}", "{{- if .Values.crd.keep }}", "helm.sh/resource-policy: keep")
	for i, want := range []string{"{{- if .Values.rbac.helpers.enabled }}", "!rbac.helpers", "!rbac.helpers", "!rbac.helpers"} {
		holds(t, m.Documents[i+1].Object.At("metadata").Text("name"), text(m.Documents[i+1]), want)
	}
}

// TestWebhookPort: with the feature off, a manager of kubebuilder serves no webhooks.
func TestWebhookPort(t *testing.T) {
	m := modelOf(t, strings.Replace(manager, `"--metrics-bind-address=:8443"`, `"--webhook-port=9443"`, 1))
	managerOf(m).List("args").Items[1].When = tree.If(".Values.webhook.enabled")
	m.Features = []model.Feature{{Name: "webhook", Value: "webhook", What: "Webhooks."}}
	document, values := taken(t, m)
	holds(t, "values.yaml", values, "webhook:\n  enabled: true\n", "  port: 9443\n")
	holds(t, "the Deployment", document, "{{- if .Values.webhook.enabled }}\n", "--webhook-port={{ .Values.webhook.port }}\n", "{{- else }}\n", "- --webhook-port=-1\n")
}

// TestFeatures: each feature has a switch, and the port of the metrics is one setting wherever it is written.
func TestFeatures(t *testing.T) {
	m := modelOf(t, manager,
		"apiVersion: v1\nkind: Service\nspec: {selector: {control-plane: controller-manager}, ports: [{port: 8443, targetPort: 8443}, {port: 443}]}\n",
		"apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nspec: {podSelector: {matchLabels: {control-plane: controller-manager}}, ingress: [{ports: [{port: 8443}]}]}\n")
	managerOf(m).List("args").Items[1].When = tree.If(".Values.metrics.enabled")
	m.Features = []model.Feature{{Name: "metrics", Value: "metrics", What: "Metrics."}, {Name: "ha", Value: "ha", What: "Several managers."}}
	document, values := taken(t, m)
	holds(t, "values.yaml", values, "# Metrics.\nmetrics:\n  enabled: true\n", "  port: 8443\n", "# Several managers.\nha:\n  enabled: true\n")
	const port = "{{ .Values.metrics.port }}"
	holds(t, "the Deployment", document, "--metrics-bind-address=:"+port, "containerPort: "+port, "!8443")
	holds(t, "the Service", text(m.Documents[1]), "port: "+port, "targetPort: "+port, "port: 443\n", "!8443")
	holds(t, "the policy", text(m.Documents[2]), "port: "+port, "!8443")
}

// TestReleases: what selects the chart's pods selects those of its own release, and nothing else does.
func TestReleases(t *testing.T) {
	const release = "app.kubernetes.io/instance: {{ .Release.Name | quote }}"
	labels := "{control-plane: controller-manager}"
	for _, test := range []struct {
		name, object string
		selects      bool
	}{
		{"a Service", "apiVersion: v1\nkind: Service\nspec: {selector: " + labels + "}\n", true},
		{"a Service of others' pods", "apiVersion: v1\nkind: Service\nspec: {selector: {app: other}}\n", false},
		{"a Service without pods", "apiVersion: v1\nkind: Service\nspec: {}\n", false},
		{"a budget", "apiVersion: policy/v1\nkind: PodDisruptionBudget\nspec: {selector: {matchLabels: " + labels + "}}\n", true},
		{"a CronJob", "apiVersion: batch/v1\nkind: CronJob\nspec: {jobTemplate: {spec: {template: {metadata: {labels: {app: a}}}}}}\n", true},
		{"a Job", "apiVersion: batch/v1\nkind: Job\nspec: {template: {metadata: {labels: {app: a}}}}\n", true},
		{"a monitor of what no object has", "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nspec: {selector: {matchLabels: {x: y}}}\n", false},
		{
			"a monitor", "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {labels: {x: y, app.kubernetes.io/managed-by: kustomize}}\n" +
				"spec: {selector: {matchLabels: {x: y, app.kubernetes.io/managed-by: kustomize}}}\n", true,
		},
	} {
		m := modelOf(t, manager, test.object)
		taken(t, m)
		if got := strings.Contains(text(m.Documents[1]), release); got != test.selects {
			t.Errorf("%s: it names the release: %v, want %v", test.name, got, test.selects)
			t.Log(text(m.Documents[1]))
		}
		if strings.Contains(text(m.Documents[1]), "kustomize") {
			t.Errorf("%s: it selects what kustomize manages", test.name)
		}
	}
}

// TestValues writes groups, comments and texts that need quotes.
func TestValues(t *testing.T) {
	var v settings.Values
	v.Describe("a", "A group\nof two lines.")
	v.Set("a.b.c", "", "yes")
	v.Set("d", "Last.", []any{"x: y"})
	v.Set("a.e", "Later.", map[string]any{"f": 1})
	v.Set("a.b.c", "", "no") // again
	got, err := v.YAML()
	want := "# A group\n# of two lines.\na:\n  b:\n    c: \"no\"\n  # Later.\n  e:\n    f: 1\n\n# Last.\nd:\n  - 'x: y'\n"
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if lines := strings.Split(got, "\n"); slices.Contains(lines, "  ") {
		t.Error("a line has blanks alone")
	}
}
