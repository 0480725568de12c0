package features

// Table lists the features in the order of their lines in config/default: a component sees the results of those above
// it. Features that are not deployed come last.
func Table() []Feature {
	return []Feature{
		{
			Name: Metrics, Value: "metrics", What: "The manager serves metrics over HTTPS to clients with the role metrics-reader.",
			Entries: []Entry{
				{List: "resources", Item: "*metrics_service.yaml"},
				{List: "patches", Item: "manager_metrics_patch.yaml"},
				{List: "patches", Item: "manager_auth_proxy_patch.yaml"}, // kubebuilder 2 and 3
				{List: "resources", Item: "auth_proxy_*.yaml", Folder: "rbac"},
				{List: "replacements", Item: "Service/*metrics-service", With: MetricsTLS},
			},
			Deployment: Patches, Objects: true,
			Requires: Requirements{
				Flags: []Flag{{"metrics-bind-address", `var metricsAddress string
flag.StringVar(&metricsAddress, "metrics-bind-address", "0", "address of metrics over HTTPS; 0 turns them off")
` + securely}},
				Option: "SecureServing", OptionCode: securely,
				WithoutOption: "metrics are for HTTPS with authorization, and the manager serves its metrics to everyone",
			},
		},
		{
			Name: Prometheus, Value: "prometheus", What: "Prometheus collects the metrics. This needs the Prometheus operator.",
			Needs: []Name{Metrics}, ComponentNeeds: []Name{MetricsTLS},
			Deployment: Selects, Objects: true, MetricsService: true,
		},
		{
			Name: Alerts, Value: "alerts", What: "Prometheus raises alerts about the manager.",
			Needs:      []Name{Metrics},
			Deployment: Selects, Objects: true, MetricsService: true, Names: true,
			Adds: Code{Files: []File{{"features-runbooks", "docs/runbooks"}}},
		},
		{Name: Dashboard, Value: "dashboard", What: "A Grafana dashboard for the manager's metrics.", Objects: true},
		{
			Name: WebhookServer, Value: "webhook", What: "The API server calls the manager's webhooks. They need a certificate.",
			Entries:        []Entry{{List: "resources", Item: "../webhook"}, {List: "patches", Item: "manager_webhook_patch.yaml", Mounts: CertManager}},
			ComponentNeeds: []Name{CertManager, SelfCert}, ServesWebhooks: true,
			Deployment: Patches, Objects: true,
		},
		{
			Name: CertManager, Value: "certManager", What: "cert-manager issues the manager's certificate. This needs cert-manager in the cluster.",
			Entries: []Entry{
				{List: "resources", Item: "../certmanager"},
				{List: "patches", Item: "*webhookcainjection_patch.yaml", With: WebhookServer},
				{List: "vars", Item: "Certificate/serving-cert", With: WebhookServer},
				{List: "vars", Item: "Service/webhook-service", With: WebhookServer},
				{List: "replacements", Item: "Service/*webhook-service", With: WebhookServer},
				{List: "replacements", Item: "Certificate/*", With: WebhookServer},
				{List: "replacements", Item: "Issuer/*", With: WebhookServer},
				{List: "replacements", Item: "Service/*metrics-service", With: MetricsTLS},
			},
			Excludes:   SelfCert,
			Deployment: Patches, Objects: true, Names: true,
		},
		{
			Name: SelfCert, Value: "selfCert", What: "The manager issues its own certificate and keeps it in a Secret.",
			Excludes:   CertManager,
			Deployment: Patches, Objects: true,
			Adds: Code{
				Files: []File{{"webhook/certificate.go", "internal/manager/certificate.go"}},
				Call:  "KeepCertificate", Doing: "keep the certificate",
				ForOthers: "the manager does not start without a certificate, so it cannot issue its own",
				OthersHint: "its webhook server must load the certificate at each handshake, as a manager of `slipway init` does; " +
					"set GetCertificate in the TLSOpts of the server's options, and create internal/manager/flags.go with that code",
				Modules: []string{"github.com/open-policy-agent/cert-controller", "k8s.io/api"}, Pinned: true,
			},
		},
		{
			Name: MetricsTLS, Value: "metrics.tls", What: "The manager serves metrics with the certificate of webhooks, which collectors can verify.",
			Entries: []Entry{
				{List: "patches", Item: "cert*_metrics_manager_patch.yaml"},
				{List: "patches", Item: "monitor_tls_patch.yaml", Folder: "prometheus", With: Prometheus},
			},
			Files:      []string{"config/default/cert_metrics_manager_patch.yaml", "config/certmanager/certificate-metrics.yaml"},
			Needs:      []Name{Metrics, CertManager, SelfCert},
			Deployment: Patches, Objects: true, Names: true,
		},
		{
			Name: HA, Value: "ha", What: "Two managers run on different nodes: one is active, the other is on standby.",
			Deployment: Patches, Objects: true,
		},
		{
			Name: PProf, Value: "pprof", What: "The manager serves profiles to users who may forward a port of its pod.",
			Deployment: Patches,
			Requires: Requirements{Flags: []Flag{{"pprof-bind-address", `var pprofAddress string
flag.StringVar(&pprofAddress, "pprof-bind-address", "0", "address of profiles; 0 turns them off")
PprofBindAddress: pprofAddress, // among ctrl.Options`}}},
		},
		{
			Name: NetworkPolicy, Value: "networkPolicy", What: "Only the API server, at the webhooks, and collectors of metrics reach the manager.",
			Deployment: Selects, Objects: true,
		},
		{Name: Egress, Value: "egress", What: "The manager reaches only DNS and the API server.", Deployment: Selects, Objects: true},
		{
			Name: Tracing, Value: "tracing", What: "The manager sends spans to an OpenTelemetry collector.",
			Deployment: Patches,
			Adds: Code{
				Files: []File{{"features-tracing/tracing.go", "internal/manager/tracing.go"}},
				Call:  "Trace", Doing: "trace",
				ForOthers: "tracing needs a manager of `slipway init`",
				OthersHint: "nothing was changed, since the project has no internal/manager/flags.go; in another project set up OpenTelemetry in the main function, " +
					"and wrap reconcilers where they are completed",
				Modules: []string{ // a new project requires them indirectly
					"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp", "go.opentelemetry.io/otel",
					"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc", "go.opentelemetry.io/otel/sdk", "go.opentelemetry.io/otel/trace",
				},
			},
		},
		{Name: Policies, Value: "vap", What: "ValidatingAdmissionPolicies check objects by the rules of their kinds.", Generated: true},
		{Name: Namespaced, Value: "namespaced", What: "The manager watches only the release's namespace and has permissions only there.", Deployment: Patches},
		{
			Name: Migration, What: "The manager has objects stored anew when a CRD gets another storage version.",
			Adds: Code{
				Files: []File{{"features-migration", "internal/manager"}},
				Call:  "MigrateStorage", Doing: "migrate stored objects",
				Modules: []string{"github.com/prometheus/client_golang", "k8s.io/apiextensions-apiserver"}, // those of controller-runtime
			},
			Generated: true,
		},
		{
			Name: EndToEnd, What: "Tests that deploy the operator to a cluster.",
			Adds: Code{Files: []File{{"features-e2e/main_test.go", "test/e2e/main_test.go"}, {"features-e2e/operator_test.go", "test/e2e/operator_test.go"}}},
		},
		{
			Name: Workflow, What: "A workflow that a code host runs for each commit.",
			Adds: Code{Files: []File{{"features-ci/ci.yml", ".github/workflows/ci.yml"}}},
		},
	}
}

// securely makes controller-runtime serve metrics over HTTPS, to authorized clients.
const securely = "Metrics: metricsserver.Options{BindAddress: metricsAddress, SecureServing: true, FilterProvider: filters.WithAuthenticationAndAuthorization}, // among ctrl.Options"
