-- Builds whose logs could not be read are counted for who runs the service.
create index analyses_unread on analyses (created_at desc) where fingerprint like 'unread-%';
