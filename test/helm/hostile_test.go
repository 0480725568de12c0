package helm

import (
	"strings"
	"testing"
)

// hostile is what users add to config/, and what charts must come through.
const hostile = `
-- config/extra/kustomization.yaml --
resources:
- notes.yaml
- other.yaml
configMapGenerator:
- name: hashed
  literals: [a=1]
-- config/extra/notes.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: notes
  annotations:
    example.com/text: "{{ .Release.Name }}"
data:
  "{{key}}.txt": |
    {{- if .Values.nothing }}
    {{ fail "no template" }}
    {{- end }}
    ---
    kind: Secret
  ambiguous: "yes"
  number: "1e3"
  braces: "{{{ }}}"
  brace: "{"
  comment: "{{/* */}}"
  spaces: "  a \n\n b\t\n\n"
  long: |

    starts with an empty line, and has no other end
      than this
-- config/extra/other.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: other
data:
  last: |
    a block at the very end
-- config/default/sidecar.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: controller-manager
  namespace: system
spec:
  template:
    metadata:
      annotations:
        example.com/pods: "{{ yes }}"
    spec:
      nodeSelector: {disk: ssd}
      tolerations:
      - key: dedicated
        operator: Exists
      containers:
      - name: adder
        image: example.com:5000/team/adder@sha256:0123456789012345678901234567890123456789012345678901234567890123
        envFrom:
        - configMapRef: {name: notes}
        - configMapRef: {name: hashed}
        args: ["--say={{ hello }}"]
      - name: manager
        imagePullPolicy: IfNotPresent
        env:
        - name: SECOND
          value: "2"
        - name: NOTES
          valueFrom:
            configMapKeyRef: {name: notes, key: number}
`

// TestHostileProject: what users add to their configuration is in the chart as it is.
func TestHostileProject(t *testing.T) {
	p := newProject(t)
	p.call("create", "webhook", "--group", "ship", "--version", "v1", "--kind", "Frigate", "--defaulting")
	p.call("edit", "--multigroup")
	p.call("create", "api", "--group", "crew", "--version", "v1beta1", "--kind", "Captain", "--resource", "--controller", "--namespaced=false")
	p.call("create", "webhook", "--group", "crew", "--version", "v1beta1", "--kind", "Captain", "--programmatic-validation")
	p.call("edit", "--enable", "network-policy", "--certs", "self")
	p.replace("api/ship/v1/frigate_types.go", "type FrigateSpec struct {", "type FrigateSpec struct {\n\t// Text is a template, such as {{ .Name }} or {{- end }}.\n\tText string `json:\"text,omitempty\"`\n")
	p.call("generate")
	p.unpack(hostile)
	p.replace(kustomization, "- ../manager\n", "- ../manager\n- ../extra\n")
	p.write(kustomization, p.read(kustomization)+"patches:\n- path: sidecar.yaml\n")
	c := p.chart()
	p.lint(nil)
	same(t, "as it is", normalized(p.kustomized(), "op-system"), normalized(p.objects(p.render(c, releaseAt{"op", "op-system"}, nil)), ""))

	for _, prefix := range []string{"", "namePrefix: op\n"} {
		t.Logf("names that no release gives: %q", prefix)
		text := p.read(kustomization)
		p.write(kustomization, strings.Replace(text, "namePrefix: op-\n", prefix, 1))
		c := p.chart()
		p.lint(nil)
		same(t, "as it is", normalized(p.kustomized(), "op-system"), normalized(p.objects(p.render(c, releaseAt{"op", "op-system"}, nil)), ""))
		p.write(kustomization, strings.Replace(text, "namePrefix: op-\n", "namePrefix: two-op-\n", 1))
		same(t, "another release", normalized(p.kustomized(), "op-system"), normalized(p.objects(p.render(c, releaseAt{"two", "op-system"}, nil)), ""))
		p.write(kustomization, text)
	}

	t.Log("without a namespace of its own")
	text := p.read(kustomization)
	p.replace(kustomization, "namespace: op-system\n", "")
	without := p.chart()
	p.write(kustomization, strings.ReplaceAll(text, "namespace: op-system", "namespace: elsewhere"))
	for _, o := range p.objects(p.render(without, releaseAt{"op", "elsewhere"}, nil)) {
		if metadata := o["metadata"].(map[string]any); metadata["namespace"] == "system" || metadata["namespace"] == "op-system" {
			t.Errorf("%v %v is in %v", o["kind"], metadata["name"], metadata["namespace"])
		}
	}
}

// foreign is the deployment of a project that another tool made: features are lines among the
// resources, with patches beside them.
const foreign = `
-- config/default/kustomization.yaml --
namespace: op-system
namePrefix: op-
resources:
- ../crd
- ../rbac
- ../manager
- ../prometheus
- ../network-policy
- metrics_service.yaml
patches:
- path: manager_metrics_patch.yaml
  target:
    kind: Deployment
-- config/default/metrics_service.yaml --
apiVersion: v1
kind: Service
metadata:
  name: controller-manager-metrics-service
  namespace: system
spec:
  ports:
  - name: https
    port: 8443
    targetPort: 8443
  selector:
    control-plane: controller-manager
    app.kubernetes.io/name: op
-- config/default/manager_metrics_patch.yaml --
- op: add
  path: /spec/template/spec/containers/0/args/0
  value: --metrics-bind-address=:8443
-- config/prometheus/kustomization.yaml --
resources:
- monitor.yaml
-- config/prometheus/monitor.yaml --
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: controller-manager-metrics-monitor
  namespace: system
spec:
  endpoints:
  - port: https
  selector:
    matchLabels:
      control-plane: controller-manager
-- config/network-policy/kustomization.yaml --
resources:
- allow.yaml
-- config/network-policy/allow.yaml --
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: allow-metrics
  namespace: system
spec:
  podSelector:
    matchLabels:
      control-plane: controller-manager
  ingress:
  - ports:
    - port: 8443
`

// TestForeignProject: features of a project that another tool made have their values too.
func TestForeignProject(t *testing.T) {
	p := newProject(t)
	p.unpack(foreign)
	c := p.chart()
	p.lint(nil)
	render := func(set ...string) map[string]object {
		return normalized(p.objects(p.render(c, releaseAt{"op", "op-system"}, values(set...))), "")
	}
	same(t, "all", normalized(p.kustomized(), "op-system"), render())
	for value, lines := range map[string][]string{
		"prometheus":    {"- ../prometheus\n"},
		"networkPolicy": {"- ../network-policy\n"},
		"metrics":       {"- metrics_service.yaml\n", "- path: manager_metrics_patch.yaml\n  target:\n    kind: Deployment\n"},
	} {
		text := p.read(kustomization)
		for _, line := range lines {
			p.replace(kustomization, line, "")
		}
		same(t, "without "+value, normalized(p.kustomized(), "op-system"), render(value+".enabled=false"))
		p.write(kustomization, text)
	}
}
