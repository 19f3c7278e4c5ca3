"""Why a bound holds and where it loses. Everything here explains a certificate; nothing here decides about one."""
