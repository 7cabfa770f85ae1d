#!/bin/sh
# Makes the ledger's and Prefect's database when PostgreSQL's data folder is made.
set -eu

for name in assay prefect; do
    case $name in
        assay) password=$ASSAY_DATABASE_PASSWORD ;;
        prefect) password=$PREFECT_DATABASE_PASSWORD ;;
    esac
    psql --set=ON_ERROR_STOP=1 --username postgres --set=role="$name" --set=password="$password" <<'SQL'
CREATE ROLE :"role" LOGIN PASSWORD :'password';
CREATE DATABASE :"role" OWNER :"role" ENCODING 'UTF8' TEMPLATE template0;
SQL
done
