#!/bin/sh
# In the place of rustdoc, for its JSON: that is unstable, and this switch for rustc itself would build everything anew.
RUSTC_BOOTSTRAP=1 exec rustdoc "$@"
