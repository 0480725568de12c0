package serve

// keepPrivate does nothing: files in a user's profile are the user's own.
func keepPrivate() {}
