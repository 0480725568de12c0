package othertools

import "slices"

// Commands is the table: by tool, in the order in which an operator's author meets the commands.
func Commands() []Command {
	return slices.Concat(kubebuilder(), makeTargets(), goCommands(), generators(), codeGenerators(), testEnvironment(), clusters(), manifests(), images())
}

func kubebuilder() []Command {
	const tool = "kubebuilder"
	return []Command{
		{Tool: tool, Theirs: "init", Ours: "slipway init", Note: "the same flags", SameFlags: true},
		{Tool: tool, Theirs: "create api", Ours: "slipway create api", Note: "the same flags and questions", SameFlags: true},
		{Tool: tool, Theirs: "create webhook", Ours: "slipway create webhook", Note: "the same flags", SameFlags: true},
		{Tool: tool, Theirs: "edit", Ours: "slipway edit", Note: "the same flags, and --enable and --disable for the parts of config/default", SameFlags: true},
		{Tool: tool, Theirs: "edit --multigroup=true", Ours: "slipway edit --multigroup", Note: "it also moves the code; --no-move changes PROJECT alone, as kubebuilder does"},
		{Tool: tool, Theirs: "edit --plugins helm/v2-alpha", Ours: "slipway helm", Note: "it takes over a chart of the plug-in, and keeps your edits"},
		{Tool: tool, Theirs: "edit --plugins grafana/v1-alpha", Ours: "slipway edit --enable dashboard", Note: "a dashboard for the manager's metrics"},
		{Tool: tool, Theirs: "edit --plugins autoupdate/v1-alpha", Note: "slipway has no command that updates a scaffold yet"},
		{Tool: tool, Theirs: "create api --plugins deploy-image/v1-alpha", Ours: "slipway create api --image memcached:1.6-alpine", Note: "the same flags; the name of the plug-in is optional", SameFlags: true},
		{Tool: tool, Theirs: "alpha generate", Note: "slipway has no command that scaffolds a project again yet"},
		{Tool: tool, Theirs: "alpha update", Note: "slipway has no command that updates a scaffold yet"},
		{Tool: tool, Theirs: "alpha webhook", Ours: "slipway create webhook", Note: "its name in early versions"},
		{Tool: tool, Theirs: "version", Ours: "slipway version"},
		{Tool: tool, Theirs: "completion bash", Ours: "slipway completion bash"},
	}
}

func makeTargets() []Command {
	const tool = "make"
	img := []string{"IMG"}
	return []Command{
		{Tool: tool, Theirs: "manifests", Ours: "slipway generate", Note: "with the options of the Makefile"},
		{Tool: tool, Theirs: "generate", Ours: "slipway generate"},
		{Tool: tool, Theirs: "fmt", Note: "run go fmt ./...; slipway formats what it writes"},
		{Tool: tool, Theirs: "vet", Note: "run go vet ./..."},
		{Tool: tool, Theirs: "lint", Note: "run golangci-lint; .golangci.yml is scaffolded"},
		{Tool: tool, Theirs: "lint-fix", Note: "run golangci-lint run --fix"},
		{Tool: tool, Theirs: "lint-config", Note: "run golangci-lint config verify; the Makefile of a new project has the target"},
		{Tool: tool, Theirs: "test", Ours: "slipway test ./...", Note: "with the cluster's control plane; no download"},
		{Tool: tool, Theirs: "setup-test-e2e", Ours: "slipway cluster start", Note: "an embedded cluster takes the place of kind's"},
		{Tool: tool, Theirs: "test-e2e", Ours: "slipway edit --enable e2e", Note: "adds the tests and the target; make test-e2e runs them"},
		{Tool: tool, Theirs: "cleanup-test-e2e", Ours: "slipway cluster delete"},
		{Tool: tool, Theirs: "manager", Note: "run go build ./cmd; the name that early versions had for build"},
		{Tool: tool, Theirs: "build", Note: "run go build ./cmd; slipway run builds what it runs"},
		{Tool: tool, Theirs: "run", Ours: "slipway run", Note: "webhooks work, too"},
		{Tool: tool, Theirs: "docker-build", Ours: "slipway image build -t operator:v1", Takes: "operator:v1", TakenFrom: img},
		{Tool: tool, Theirs: "docker-push", Ours: "slipway image push operator:v1", Takes: "operator:v1", TakenFrom: img},
		{Tool: tool, Theirs: "docker-buildx", Ours: "slipway image build -t operator:v1 --platform linux/amd64,linux/arm64", Note: "image push then pushes an index of both", Takes: "operator:v1", TakenFrom: img},
		{Tool: tool, Theirs: "build-installer", Ours: "slipway deploy --print", Note: "with --image for the IMG of make; redirect the output to dist/install.yaml", Adds: "--image", TakenFrom: img},
		{Tool: tool, Theirs: "install", Ours: "slipway install"},
		{Tool: tool, Theirs: "uninstall", Ours: "slipway uninstall"},
		{Tool: tool, Theirs: "deploy", Ours: "slipway deploy", Note: "waits until the operator is ready, and deletes what the configuration no longer has", Adds: "--image", TakenFrom: img},
		{Tool: tool, Theirs: "undeploy", Ours: "slipway undeploy"},
		{Tool: tool, Theirs: "kustomize", Ours: "slipway tools link", Note: "links slipway where the Makefile looks for its tools"},
		{Tool: tool, Theirs: "controller-gen", Ours: "slipway tools link"},
		{Tool: tool, Theirs: "envtest", Ours: "slipway tools link"},
	}
}

func goCommands() []Command {
	const tool = "go"
	return []Command{
		{Tool: tool, Theirs: "mod init", Ours: "slipway init", Note: "with --repo MODULE it makes the module, too"},
		{Tool: tool, Theirs: "run cmd/main.go", Ours: "slipway run", Typed: []string{"go run"}, Note: "generates first, and webhooks work"},
		{Tool: tool, Theirs: "test ./... -coverprofile cover.out", Ours: "slipway test ./... -coverprofile cover.out", Typed: []string{"go test"}, Note: "the same arguments, with a control plane"},
		{Tool: tool, Theirs: "build -o bin/manager cmd/main.go", Typed: []string{"go build"}, Note: "run it as it is; slipway run and slipway image build compile the manager themselves"},
		{Tool: tool, Theirs: "install sigs.k8s.io/controller-tools/cmd/controller-gen", Ours: "slipway tools link", Typed: []string{"go install", "go get"}, Note: "controller-gen, type-scaffold, setup-envtest, kustomize and the code generators are part of slipway"},
	}
}

func generators() []Command {
	const tool, all = "controller-gen", "slipway generate runs all generators of the project"
	return []Command{
		{Tool: tool, Ours: "slipway controller-gen", Note: "controller-gen's own command line; slipway generate needs no arguments"},
		{Tool: tool, Theirs: "object crd rbac:roleName=manager-role webhook paths=./...", Ours: "slipway generate"},
		{Tool: tool, Theirs: "object paths=./...", Ours: "slipway controller-gen object paths=./...", Typed: []string{tool + " object"}, Note: all},
		{Tool: tool, Theirs: "crd paths=./... output:crd:dir=config/crds", Ours: "slipway controller-gen crd paths=./... output:crd:dir=config/crds", Typed: []string{tool + " crd"}, Note: all},
		{Tool: tool, Theirs: "rbac:roleName=manager-role paths=./...", Ours: "slipway controller-gen rbac:roleName=manager-role paths=./...", Typed: []string{tool + " rbac"}, Note: all},
		{Tool: tool, Theirs: "webhook paths=./...", Ours: "slipway controller-gen webhook paths=./...", Typed: []string{tool + " webhook"}, Note: all},
		{Tool: tool, Theirs: "schemapatch:manifests=config/crd/bases paths=./...", Ours: "slipway controller-gen schemapatch:manifests=config/crd/bases paths=./..."},
		{Tool: tool, Theirs: "crd -w", Ours: "slipway controller-gen crd -w", Note: "lists the markers"},
		{Tool: tool, Theirs: "-hhh", Ours: "slipway controller-gen -hhh", Note: "lists the generators' options"},
		{Tool: "type-scaffold", Theirs: "--kind Foo", Ours: "slipway type --kind Foo", Note: "slipway type-scaffold is the same command"},
	}
}

func codeGenerators() []Command {
	const clients = "slipway generate clients"
	return []Command{
		{Tool: "deepcopy-gen", Ours: "slipway generate", Note: "from the markers +k8s:deepcopy-gen and +kubebuilder:object"},
		{Tool: "client-gen", Ours: clients, Note: "from the marker +genclient, together with informers and listers"},
		{Tool: "lister-gen", Ours: clients},
		{Tool: "informer-gen", Ours: clients},
		{Tool: "applyconfiguration-gen", Ours: "slipway create api --ssa", Note: "slipway generate clients generates those for clients"},
		{Tool: "conversion-gen", Ours: "slipway create webhook --conversion", Note: "writes the functions that convert, for you to complete, and their tests"},
		{Tool: "defaulter-gen", Ours: "slipway create webhook --defaulting", Note: "a default that is a constant is a marker: +kubebuilder:default"},
		{Tool: "register-gen", Ours: "slipway create api", Note: "the types' package registers its kinds"},
		{Tool: "openapi-gen", Note: "no API server of your own needs it here: the CRDs have the schemas"},
		{Tool: "crd-gen", Ours: "slipway generate", Typed: []string{"crd-schema-gen"}, Note: "a name that early versions of controller-gen had"},
		{Tool: "generate-groups.sh", Ours: clients, Typed: []string{"update-codegen.sh", "kube_codegen.sh", "code-generator", "code-generator/generate-groups.sh"}, Note: "no copy of code-generator is needed"},
	}
}

func testEnvironment() []Command {
	const tool = "setup-envtest"
	return []Command{
		{Tool: tool, Theirs: "use", Ours: "slipway setup-envtest use", Note: "the same command line, without a download"},
		{Tool: tool, Theirs: "list", Ours: "slipway setup-envtest list"},
		{Tool: tool, Theirs: "cleanup", Ours: "slipway setup-envtest cleanup"},
		{Tool: tool, Theirs: "sideload", Ours: "slipway setup-envtest sideload"},
		{Tool: tool, Theirs: "version", Ours: "slipway setup-envtest version"},
	}
}

func clusters() []Command {
	const tool = "kind"
	return []Command{
		{Tool: tool, Theirs: "create cluster", Ours: "slipway cluster start", Typed: []string{"cluster create", "create cluster"}, Note: "--name is --cluster; a second run is a no-op", Cluster: true},
		{Tool: tool, Theirs: "create cluster --config kind.yaml", Ours: "slipway cluster start --config kind.yaml", Note: "reads a configuration of kind; reports the parts that have no effect", Takes: "kind.yaml", TakenFrom: []string{"--config"}, Cluster: true},
		{Tool: tool, Theirs: "delete cluster", Ours: "slipway cluster delete", Typed: []string{"delete cluster"}, Cluster: true},
		{Tool: tool, Theirs: "get clusters", Ours: "slipway cluster list", Typed: []string{"cluster get", "get clusters"}},
		{Tool: tool, Theirs: "get nodes", Ours: "slipway kubectl get nodes", Typed: []string{"get nodes", "cluster get nodes"}},
		{Tool: tool, Theirs: "get kubeconfig", Ours: "slipway cluster kubeconfig", Typed: []string{"get kubeconfig", "cluster get kubeconfig"}, Cluster: true},
		{Tool: tool, Theirs: "export kubeconfig", Ours: "slipway cluster kubeconfig", Typed: []string{"export kubeconfig", "cluster export", "cluster export kubeconfig"}, Note: "prints it; slipway cluster start writes it to your kubeconfig", Cluster: true},
		{Tool: tool, Theirs: "export logs", Ours: "slipway cluster logs", Typed: []string{"export logs", "cluster export logs"}, Note: "prints them; a component's name selects its own", Cluster: true},
		{Tool: tool, Theirs: "load docker-image", Ours: "slipway image load controller:latest", Typed: []string{"load docker-image", "load image", "cluster load", "cluster load docker-image"}, Note: "an image that slipway image build made, or an archive", Takes: "controller:latest", Cluster: true},
		{Tool: tool, Theirs: "load image-archive", Ours: "slipway image load operator.tar", Typed: []string{"load image-archive", "cluster load image-archive"}, Takes: "operator.tar", Cluster: true},
		{Tool: tool, Theirs: "build node-image", Note: "no node image exists; slipway cluster build compiles the cluster program", Typed: []string{"build node-image"}},
		{Tool: "minikube", Theirs: "start", Ours: "slipway cluster start"},
		{Tool: "minikube", Theirs: "delete", Ours: "slipway cluster delete"},
		{Tool: "k3d", Theirs: "cluster create", Ours: "slipway cluster start"},
	}
}

func manifests() []Command {
	return []Command{
		{Tool: "kustomize", Theirs: "build config/default", Ours: "slipway kustomize build config/default", Note: "kustomize's own command line"},
		{Tool: "kustomize", Theirs: "build config/default | kubectl apply -f -", Ours: "slipway deploy", Note: "it also waits until the operator is ready"},
		{Tool: "kustomize", Theirs: "build config/crd | kubectl apply -f -", Ours: "slipway install"},
		{Tool: "kustomize", Theirs: "edit set image controller=IMG", Ours: "slipway deploy --image IMG", Typed: []string{"kustomize edit set image"}, Note: "no file changes; slipway kustomize edit changes it"},
		{Tool: "kubectl", Theirs: "apply -f", Ours: "slipway kubectl apply -f", Note: "the embedded Kubernetes' own kubectl"},
	}
}

func images() []Command {
	const tool = "docker"
	return []Command{
		{Tool: tool, Theirs: "build -t NAME .", Ours: "slipway image build -t NAME", Typed: []string{tool + " image build"}, Note: "with -f and --target; reads the Dockerfile for how the manager is compiled and started", Takes: "NAME", TakenFrom: []string{"-t", "--tag"}},
		{Tool: tool, Theirs: "buildx build --platform linux/amd64,linux/arm64", Ours: "slipway image build -t NAME --platform linux/amd64,linux/arm64", Takes: "NAME", TakenFrom: []string{"-t", "--tag"}},
		{Tool: tool, Theirs: "push", Ours: "slipway image push NAME", Typed: []string{tool + " image push"}, Takes: "NAME"},
		{Tool: tool, Theirs: "pull", Ours: "slipway image pull NAME", Takes: "NAME"},
		{Tool: tool, Theirs: "run", Ours: "slipway kubectl run POD --image NAME", Note: "a real node runs it; slipway run starts your manager without an image"},
		{Tool: tool, Theirs: "tag", Ours: "slipway image build -t NAME", Note: "an image has the names that it is built with; the second build takes a moment"},
		{Tool: tool, Theirs: "load -i", Ours: "slipway image load ARCHIVE", Note: "into the embedded cluster"},
		{Tool: tool, Theirs: "login", Ours: "slipway image login REGISTRY", Typed: []string{"login"}, Takes: "REGISTRY"},
		{Tool: tool, Theirs: "logout", Ours: "slipway image logout REGISTRY", Typed: []string{"logout"}, Takes: "REGISTRY"},
		{Tool: tool, Theirs: "images", Ours: "slipway image list", Typed: []string{"images", tool + " image ls"}},
		{Tool: tool, Theirs: "rmi", Ours: "slipway image remove NAME", Typed: []string{tool + " image rm"}, Takes: "NAME"},
		{Tool: tool, Theirs: "save -o", Ours: "slipway image save NAME -o ARCHIVE"},
		{Tool: tool, Theirs: "inspect", Ours: "slipway image inspect NAME", Typed: []string{tool + " image inspect"}, Takes: "NAME"},
		{Tool: tool, Theirs: "ps", Typed: []string{"docker container ls"}, Ours: "slipway kubectl get pods -A", Note: "pods are processes of the cluster, not containers of an engine"},
		{Tool: tool, Theirs: "version", Typed: []string{"docker info"}, Note: "no container engine is needed; slipway version prints slipway's own version"},
		{Tool: tool, Theirs: "logs", Ours: "slipway kubectl logs POD", Takes: "POD"},
		{Tool: tool, Theirs: "exec", Ours: "slipway kubectl exec POD -- COMMAND"},
	}
}
