package main

import (
	"context"
	"time"
)

// farewell bounds how long this process takes to say goodbye to a registry.
const farewell = 5 * time.Second

// leave closes a handle, also if ctx has ended.
func leave(ctx context.Context, at interface{ Close(context.Context) error }) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	return at.Close(ctx)
}
