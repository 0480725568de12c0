package kubelet

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubeletoptions "k8s.io/kubernetes/cmd/kubelet/app/options"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"

	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
)

const (
	// port is the kubelet's usual port, for nodes with an address of their own.
	port = 10250
	// maxPods is the number of pods that a node runs unless its capacity sets another.
	maxPods = 250
	// restartPeriod bounds the back-off of containers that end: a developer waits for the restart.
	restartPeriod = time.Second
	// leaseSeconds equals that of simulated nodes, so that all lost nodes are noticed equally soon. The kubelet renews
	// the lease after a quarter of it.
	leaseSeconds = 8
	// syncPeriod is the interval of syncs of an idle pod, plus at most half of it. Volumes of ConfigMaps and Secrets
	// are updated at a sync: an operator may wait for its certificate. Fifty idle pods cost 3% of a processor with two
	// seconds, and 2% with five.
	syncPeriod = 2 * time.Second
)

// files are the paths of the node's key and certificates, which the kubelet reads from files.
type files struct{ authority, certificate, key string }

func writeFiles(keysFolder string, c nodeconfig.Config) (files, error) {
	if err := os.MkdirAll(keysFolder, 0o700); err != nil {
		return files{}, fmt.Errorf("make the folder for keys: %w", err)
	}
	f := files{filepath.Join(keysFolder, "ca.crt"), filepath.Join(keysFolder, "kubelet.crt"), filepath.Join(keysFolder, "kubelet.key")}
	err := errors.Join(
		os.WriteFile(f.authority, c.Authority, 0o600),
		os.WriteFile(f.certificate, c.Serving.Certificate, 0o600),
		os.WriteFile(f.key, c.Serving.Key, 0o600),
	)
	if err != nil {
		return files{}, fmt.Errorf("write keys: %w", err)
	}
	return f, nil
}

func (n *node) settings() (*kubeletoptions.KubeletServer, error) {
	config, err := kubeletoptions.NewKubeletConfiguration()
	if err != nil {
		return nil, fmt.Errorf("the kubelet's defaults: %w", err)
	}
	flags := kubeletoptions.NewKubeletFlags()
	flags.RootDirectory, flags.CertDirectory = n.ground.folders.root, filepath.Join(n.ground.folders.root, "pki")
	flags.HostnameOverride, flags.NodeIP, flags.NodeLabels, flags.CloudProvider = n.Name, n.ground.nodeIP, n.Labels, n.ground.cloud
	flags.MinimumGCAge = metav1.Duration{}
	config.RegisterNode = true
	config.RegisterWithTaints = n.Taints
	config.ProviderID = "slipway://" + n.Name
	n.listen(config)
	n.tuneForDevelopment(config)
	config.EnableSystemLogHandler = n.Plain == nil // on a plain node these are the machine's logs
	config.PodLogsDir = n.ground.folders.logs
	config.ClusterDomain, config.ClusterDNS = n.Domain, []string{n.DNS.String()}
	if config.ResolverConfig, err = writeResolver(n.ground.folders.root, n.DNS); err != nil {
		return nil, err
	}
	config.MaxPods = maxPods
	if pods, ok := n.Capacity["pods"]; ok {
		config.MaxPods = int32(pods.Value())
	}
	config.SeccompDefault = true
	config.CgroupsPerQOS = true // the kubelet destroys the groups of pods that have ended: see podGroups
	// These settings concern cgroups, the host's kernel or its firewall, which a node does not touch.
	config.EnforceNodeAllocatable, config.CgroupRoot = nil, ""
	config.FailCgroupV1, config.FailSwapOn, config.ProtectKernelDefaults, config.MakeIPTablesUtilChains = false, false, false, false
	config.EvictionHard, config.LocalStorageCapacityIsolation = map[string]string{}, false
	config.EnableControllerAttachDetach = false
	config.VolumeStatsAggPeriod = metav1.Duration{Duration: -1}
	return &kubeletoptions.KubeletServer{KubeletFlags: *flags, KubeletConfiguration: *config}, nil
}

// writeResolver writes the /etc/resolv.conf of pods with hostNetwork or the dnsPolicy Default. It names the cluster's
// DNS server: nodes cannot reach the host's. That server resolves outside names with --egress, and else reports them.
func writeResolver(folder string, server netip.Addr) (path string, err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("make the kubelet's folder: %w", err)
	}
	path = filepath.Join(folder, "resolv.conf")
	if err := os.WriteFile(path, fmt.Appendf(nil, "nameserver %s\n", server), 0o644); err != nil {
		return "", fmt.Errorf("write the node's resolver configuration: %w", err)
	}
	return path, nil
}

// listen configures the kubelet's server, which authenticates and authorizes requests at the API server.
func (n *node) listen(c *kubeletconfig.KubeletConfiguration) {
	c.Address, c.Port, c.ReadOnlyPort, c.HealthzPort = n.ground.listen, n.ground.port, 0, 0
	c.Authentication.Anonymous.Enabled = false
	c.Authentication.Webhook.Enabled = true
	c.Authentication.X509.ClientCAFile = n.files.authority
	c.Authorization.Mode = kubeletconfig.KubeletAuthorizationModeWebhook
}

// tuneForDevelopment replaces defaults that are slow because they protect large clusters.
func (n *node) tuneForDevelopment(c *kubeletconfig.KubeletConfiguration) {
	c.SyncFrequency.Duration = syncPeriod
	c.NodeLeaseDurationSeconds = leaseSeconds
	c.ImageGCHighThresholdPercent = 100 // never collect images: a developer's disk may be full
	c.CrashLoopBackOff.MaxContainerRestartPeriod = &metav1.Duration{Duration: restartPeriod}
	c.SerializeImagePulls, c.RegistryPullQPS = false, 0
	c.EventRecordQPS, c.EventBurst = 0, 0
	c.ShutdownGracePeriod, c.ShutdownGracePeriodCriticalPods = metav1.Duration{}, metav1.Duration{}
}
