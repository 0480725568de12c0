package protocol

// Logical are the parameters of addLogical.
type Logical struct {
	Name           string   `json:"name"`
	Nodes          *[]Node  `json:"nodes,omitempty"`       // as in a [Config]
	Controllers    *bool    `json:"controllers,omitempty"` // as in a [Config]
	APIServerFlags []string `json:"apiServerFlags,omitempty"`
	Tied           bool     `json:"tied,omitempty"` // it ends with the connection that asked for it
}

// RunControllers says whether controllers, scheduler and nodes run.
func (l Logical) RunControllers() bool { return l.Controllers == nil || *l.Controllers }

// ServerFlags are the API server's flags: those that hold for the whole process, and its own.
func (l Logical) ServerFlags(main Config) []string {
	gates := Config{FeatureGates: main.FeatureGates, RuntimeConfig: main.RuntimeConfig}
	return append(gates.ServerFlags(), l.APIServerFlags...)
}

// LogicalCluster says where a logical cluster is.
type LogicalCluster struct {
	Name       string `json:"name"`
	Server     string `json:"server"`
	Kubeconfig string `json:"kubeconfig"`
}

// LogicalAdded is the result of addLogical.
type LogicalAdded struct {
	LogicalCluster
	ElapsedMs int64 `json:"elapsedMs"`
}

// RemoveLogical are the parameters of removeLogical.
type RemoveLogical struct {
	Name string `json:"name"`
}
