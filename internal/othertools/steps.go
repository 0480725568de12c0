package othertools

// Step is a step of a tutorial for other tools that is more than one command.
type Step struct {
	Theirs string // what the tutorial has its reader do
	Ours   string // the command that does the same; empty where none is needed
	Note   string
}

// Steps are in the order in which a reader meets them.
func Steps() []Step {
	return []Step{
		{Theirs: "download an archive of kubebuilder, move it to `/usr/local/kubebuilder`, extend `PATH`", Note: "not needed"},
		{Theirs: "set `KUBEBUILDER_ASSETS` or `TEST_ASSET_…`", Ours: "slipway test ./...", Note: "sets it; your own value stays"},
		{Theirs: "clone code-generator or controller-tools, check out a tag, `go install` the generators", Note: "not needed"},
		{Theirs: "make a folder, run `go mod init`", Ours: "slipway init --repo MODULE", Note: "in an empty folder"},
		{Theirs: "move `api/*` to `apis/GROUP` and `controllers/*` to `controllers/GROUP`, correct the imports", Ours: "slipway edit --multigroup"},
		{Theirs: "uncomment the sections `[WEBHOOK]` in `config/`", Ours: "slipway create webhook", Note: "turns the sections on"},
		{Theirs: "uncomment the sections `[CERTMANAGER]`", Ours: "slipway edit --certs cert-manager"},
		{Theirs: "`kubectl apply -f …/cert-manager.yaml`", Ours: "slipway cluster add cert-manager", Note: "in an embedded cluster"},
		{Theirs: "uncomment the sections `[PROMETHEUS]`", Ours: "slipway edit --enable prometheus"},
		{Theirs: "install the Prometheus operator", Ours: "slipway cluster add prometheus-crds", Note: "its kinds; in an embedded cluster"},
		{Theirs: "grant Prometheus the role `metrics-reader`", Ours: "slipway kubectl create clusterrolebinding metrics --clusterrole PREFIX-metrics-reader --serviceaccount NAMESPACE:NAME"},
		{Theirs: "start the manager without webhooks: `make run ENABLE_WEBHOOKS=false`", Ours: "slipway run", Note: "webhooks work; the variable has the same effect"},
		{Theirs: "`kubectl apply -f config/crd/bases`", Ours: "slipway install", Note: "generates first"},
		{Theirs: "install docker, kubectl and kustomize", Note: "not needed: slipway image, kubectl and kustomize are there"},
		{Theirs: "bring up a cluster of Kubernetes", Ours: "slipway cluster start"},
	}
}
