"""Reports on certificates: the checker's verdict first, then why the bound holds and where it loses."""
