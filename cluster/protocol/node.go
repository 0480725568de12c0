package protocol

// NodeOf is the parameter of the requests stopNode and startNode.
type NodeOf struct {
	Name    string `json:"name"`
	Logical string `json:"logical,omitempty"` // empty: the main cluster
}

// JoinNode are the parameters of joinNode.
type JoinNode struct {
	Program string `json:"program"` // the path of slipway-node; empty: that of the configuration
}

// NodeJoined is the result of joinNode.
type NodeJoined struct {
	Name    string `json:"name"`    // of the real node
	Already bool   `json:"already"` // it was there
}
