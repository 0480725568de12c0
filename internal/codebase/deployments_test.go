package codebase_test

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
)

// TestDeployed: what the Makefile's target deploy applies is deployed, and is only certain if that is one folder as it
// is.
func TestDeployed(t *testing.T) {
	const kustomizations = `
-- config/default/kustomization.yaml --
resources: [../manager]
-- config/manager/kustomization.yaml --
resources: [manager.yaml]
-- config/manager/manager.yaml --
-- config/crd/kustomization.yaml --
resources: [a.yaml]
-- overlays/dev/kustomization.yaml --
resources: [../../config/default]
-- config/samples/kustomization.yaml --
resources: []
-- hack/deploy.sh --
kustomize build overlays/dev | kubectl apply -f -
`
	for name, test := range map[string]struct {
		makefile string
		want     string // the folder, or the place of the refusal
		hint     string // and a part of it
	}{
		"no target":           {"all:\n\tkustomize build overlays/dev\n", "config/default", ""},
		"kubebuilder's":       {"IMG ?= c:$(shell x)\ndeploy: manifests kustomize ## Deploy\n\tcd config/manager && \"$(KUSTOMIZE)\" edit set image controller=${IMG}\n\t\"$(KUSTOMIZE)\" build config/default | \"$(KUBECTL)\" apply -f -\n", "config/default", ""},
		"slipway's":           {"deploy:\n\t$(SLIPWAY) deploy --image $(IMG)\n", "config/default", ""},
		"slipway's elsewhere": {"deploy:\n\t$(SLIPWAY) deploy -k overlays/dev\n", "overlays/dev", ""},
		"an overlay":          {"ENV ?= dev\ndeploy:\n\tkubectl apply --server-side -k overlays/$(ENV)\n", "overlays/dev", ""},
		"kubectl builds":      {"deploy:\n\tcd overlays && kubectl kustomize dev > all.yaml\n\tkubectl apply -f overlays/all.yaml\n", "overlays/dev", ""},
		"another target":      {"deploy: operator\noperator:\n\tif true; then kustomize build --load-restrictor LoadRestrictionsNone overlays/dev | kubectl apply -f -; fi\n", "overlays/dev", ""},
		"make":                {"deploy:\n\t$(MAKE) operator\noperator:\n\tkustomize build overlays/dev | kubectl apply -f -\n", "overlays/dev", ""},
		"a script":            {"deploy:\n\t./hack/deploy.sh\n", "overlays/dev", ""},
		"a part first":        {"deploy:\n\tkubectl apply -k config/manager\n\tkubectl apply -k config/default\n", "config/default", ""},
		"another file first":  {"deploy:\n\tsed -i s/a/b/ docs/a.md\n\tkubectl apply -k config/default\n", "config/default", ""},
		"several":             {"deploy:\n\techo\n\tkubectl apply -k config/crd\n\tkubectl apply -k overlays/dev\n", "Makefile:3", "config/crd, overlays/dev"},
		"go run":              {"deploy: ; go run sigs.k8s.io/kustomize/kustomize/v5@v5.7.1 build overlays/dev | kubectl apply -f -\n", "overlays/dev", ""},
		"a variable":          {"deploy:\n\t@out=\"$$(\"$(KUSTOMIZE)\" build overlays/dev 2>/dev/null || true)\"; \\\n\tif [ -n \"$$out\" ]; then echo \"$$out\" | \"$(KUBECTL)\" apply -f -; else echo none; fi\n", "overlays/dev", ""},
		"a variable's words":  {"deploy:\n\tkubectl apply -f - <<< \"$$(echo x)\"\n\tout=$$(kustomize build overlays/dev); kubectl apply -f - <<< \"$$out\"\n", "overlays/dev", ""},
		"a variable changed":  {"deploy:\n\tout=$$(kustomize build overlays/dev | envsubst); if true; then echo \"$$out\" | kubectl apply -f -; fi\n", "Makefile:2", "envsubst"},
		"a variable alone":    {"deploy:\n\tns=$$(kustomize build overlays/dev | yq .metadata.namespace); kubectl apply -k config/default\n", "config/default", ""},
		"a container":         {"deploy:\n\tdocker run --rm i kustomize build config/default | kubectl apply -f -\n", "Makefile:2", "builds no kustomization"},
		"an unknown script":   {"deploy:\n\t./hack/unknown.sh\n", "Makefile:2", "builds no kustomization"},
		"a chart at once":     {"deploy: ; helm upgrade --install op dist/chart\n", "Makefile:1", "builds no kustomization"},
		"another image first": {"IMG ?= x.org/op:v1\ndeploy:\n\tcd config/manager && kustomize edit set image controller=$(IMG) proxy=x.org/proxy:v2\n\tkubectl apply -k config/default\n", "Makefile:3", "set image proxy=x.org/proxy:v2"},
		"its image first":     {"IMG ?= x.org/op:v1\ndeploy:\n\tcd config/manager && kustomize edit set image op=$(IMG)\n\tkubectl apply -k config/default\n", "config/default", ""},
		"elsewhere first":     {"deploy:\n\tcd config/crd && kustomize edit set image proxy=x\n\tkubectl apply -k config/default\n", "config/default", ""},
		"samples after":       {"deploy:\n\tkubectl apply -k config/default\n\tkubectl apply -k config/samples\n", "config/default", ""},
		"the namespace first": {"deploy:\n\tcd config/default && $(KUSTOMIZE) edit set namespace $(NS)\n\t$(KUSTOMIZE) build config/default | kubectl apply -f -\n", "Makefile:2", "kustomize edit set namespace"},
		"sed first":           {"deploy:\n\tsed -i 's/a/b/' config/manager/manager.yaml\n\tkubectl apply -k config/default\n", "Makefile:2", "sed"},
		"through envsubst":    {"deploy:\n\tkustomize build config/default | envsubst | kubectl apply -f -\n", "Makefile:2", "envsubst"},
		"a chart":             {"deploy:\n\thelm upgrade --install op dist/chart\n", "Makefile:2", "builds no kustomization"},
		"only make knows":     {"deploy:\n\tkubectl apply -k overlays/$(shell x)\n", "Makefile:2", "only make or the shell know"},
		"outside":             {"deploy:\n\tkubectl apply -k ../other\n", "Makefile:2", "no folder"},
	} {
		t.Run(name, func(t *testing.T) {
			deployed, err := read(unpacked(t, kustomizations+"-- Makefile --\n"+test.makefile)).Deployed()
			if err != nil {
				t.Fatal(err)
			}
			got, err := deployed.Folder()
			if refused, ok := errors.AsType[*report.Error](err); ok && strings.Contains(refused.Hint, "-k") && strings.Contains(refused.What, test.hint) {
				got = refused.Where
			}
			if got != test.want {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

// TestStart: make run says how a manager is started, then its Deployment, then its image; flags are a pod's. With the
// rights of a ServiceAccount it thinks that it is in the namespace of that.
func TestStart(t *testing.T) {
	const project = "-- Dockerfile --\nFROM golang AS b\nWORKDIR /s\nRUN go build -o /op .\nFROM scratch\nCOPY --from=b /op /\nENTRYPOINT [\"/op\", \"image\"]\n-- main.go --\npackage main\n"
	const deployed = "-- config/default/kustomization.yaml --\nnamespace: theirs\nresources: [d.yaml]\npatches:\n- target: {kind: Deployment}\n  patch: |\n    - {op: add, path: /spec/template/spec/containers/0/env/-, value: {name: ADDED, value: b}}\n-- config/default/d.yaml --\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: op, namespace: system}\n" +
		"spec:\n  template:\n    spec:\n      containers:\n      - name: manager\n        command: [/op]\n        args: [serve, --certs=/certs]\n        env:\n        - {name: PLAIN, value: a}\n        - {name: KUBECONFIG, value: /x}\n" +
		"        - {name: SPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}\n        - {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}\n        - {name: KEY, valueFrom: {secretKeyRef: {name: a, key: b}}}\n"
	const variables = "PLAIN=a"
	for name, test := range map[string]struct{ files, arguments, environment string }{
		"its image":               {"", "image", ""},
		"its Deployment":          {deployed, "serve", variables},
		"make run":                {deployed + "-- Makefile --\nrun:\n\tENABLE=false go run . start --debug\n", "start --debug", variables + " ENABLE=false"},
		"make run without any":    {deployed + "-- Makefile --\nrun:\n\tgo run ./main.go\n", "", variables},
		"make run of another":     {deployed + "-- Makefile --\nrun:\n\tX=y go run ./tool start\n", "serve", variables},
		"what is deployed breaks": {deployed + "-- config/default/kustomization.yaml --\nx: y\n", "image", ""},
	} {
		t.Run(name, func(t *testing.T) {
			code := read(unpacked(t, project+test.files))
			managers, err := code.Managers()
			if err != nil || len(managers) != 1 {
				t.Fatalf("%+v, %v", managers, err)
			}
			start, err := code.Start(managers[0])
			if err != nil || strings.Join(start.Arguments, " ") != test.arguments || strings.Join(start.Environment, " ") != test.environment {
				t.Errorf("%+v, %v", start, err)
			}
			of := strings.Join(start.In("theirs"), " ")
			if want := strings.TrimSpace("SPACE=theirs " + test.environment); strings.HasPrefix(test.environment, variables) && of != want {
				t.Errorf("as a ServiceAccount: %s, want %s", of, want)
			}
		})
	}
}

// TestDeployments: the manager's Deployment is the one of what is deployed that runs what the project builds.
func TestDeployments(t *testing.T) {
	const pod = "  selector:\n    matchLabels: {app: x}\n  template:\n    metadata:\n      labels: {LABELS}\n    spec:\n      containers:\n"
	deployment := func(name, labels string, containers ...string) string {
		text := "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: " + name + "\n  namespace: system\nspec:\n" + strings.ReplaceAll(pod, "LABELS", labels)
		for _, c := range containers {
			text += "      - " + c + "\n"
		}
		return text + "---\n"
	}
	const sidecar, manager = "{name: proxy, image: proxy:v1}", "{name: manager, image: \"x.org/op:v1\", command: [/manager]}"
	const config = "-- config/default/kustomization.yaml --\nnamePrefix: op-\nnamespace: op-system\nresources: [../run, ../gone, gone.yaml, https://x.org/y]\n" +
		"patches: [{path: args.yaml, target: {kind: Deployment}}]\n-- config/default/args.yaml --\n- {op: add, path: /spec/template/spec/containers/0/args, value: [--a]}\n" +
		"-- config/run/kustomization.yaml --\nresources: [all.yaml]\n-- Dockerfile --\nFROM golang AS b\nWORKDIR /s\nRUN go build -o /manager .\nFROM scratch\nCOPY --from=b /manager /\nENTRYPOINT [\"/manager\"]\n" +
		"-- Makefile --\nIMG ?= x.org/built:v2\n-- config/run/all.yaml --\n"
	for name, test := range map[string]struct {
		file string
		want []string // names, each with its container
	}{
		"the only one":       {deployment("a", "", "{name: x, image: y}"), []string{"op-a x"}},
		"beside a sidecar":   {deployment("a", "", sidecar, "{name: manager, image: y}"), []string{"op-a manager"}},
		"its program":        {deployment("a", "control-plane: x", sidecar) + deployment("b", "", sidecar, manager), []string{"op-b manager"}},
		"its image":          {deployment("a", "control-plane: x", sidecar) + deployment("b", "", sidecar, "{name: run, image: \"controller:latest\"}"), []string{"op-b run"}},
		"the Makefile's":     {deployment("a", "", sidecar) + deployment("b", "", "{name: run, image: \"x.org/built:v1\"}"), []string{"op-b run"}},
		"its label":          {deployment("a", "", sidecar) + deployment("b", "control-plane: x", "{name: run, image: y}"), []string{"op-b run"}},
		"several unknown":    {deployment("a", "", sidecar) + deployment("b", "", sidecar), nil},
		"several of its own": {deployment("a", "", manager) + deployment("b", "", manager), []string{"op-a manager", "op-b manager"}},
		"none":               {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := read(unpacked(t, config+test.file)).Deployments()
			var got []string
			for _, d := range all {
				got = append(got, d.Metadata.Name+" "+d.Container().Name)
				if w := d.Written; w == nil || w.File != "config/run/all.yaml" || "op-"+w.Name != d.Metadata.Name || w.Namespace != "system" ||
					d.Metadata.Namespace != "op-system" || w.Containers[w.Index] != d.Container().Name {
					t.Errorf("%+v was written as %+v", d.Metadata, w)
				}
				if args := d.Spec.Template.Spec.Containers[0].Args; !slices.Equal(args, []string{"--a"}) {
					t.Errorf("arguments %q", args)
				}
			}
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

// TestManyDeployed: many commands before many others that build are noted once.
func TestManyDeployed(t *testing.T) {
	c := read(unpacked(t, "-- config/default/kustomization.yaml --\nresources: []\n-- Makefile --\ndeploy:\n\t"+
		strings.Repeat("x a; ", 5000)+"\n\t"+strings.Repeat("kustomize build config/default; ", 1500)+"\n"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	deployed, err := c.Deployed()
	runtime.ReadMemStats(&after)
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; err != nil || !slices.Equal(deployed.Folders, []string{"config/default"}) || used > 128 {
		t.Errorf("%v: %d folders, %d MiB", err, len(deployed.Folders), used)
	}
}
