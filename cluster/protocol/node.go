package protocol

// NodeOf are the parameters of the stopNode and startNode requests.
type NodeOf struct {
	Name    string `json:"name"`
	Logical string `json:"logical,omitempty"` // empty: the main cluster
}

// JoinNode are the parameters of the joinNode request.
type JoinNode struct {
	Program string `json:"program,omitempty"` // the path of slipway-node; empty: that of the configuration
}

// NodeJoined is the result of the joinNode request.
type NodeJoined struct {
	Name    string `json:"name"`    // of the real node
	Already bool   `json:"already"` // it was there
}
